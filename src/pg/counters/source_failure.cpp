// Remembering failures of central sources. See source_failure.hpp.
#include "pg/counters/source_failure.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/log_limit.hpp"

namespace snowid::pg {

namespace {

// Whether the log is to be told of a failure, which is not counted yet. It then counts as told.
bool IsToBeLogged(SourceCounts* counts, int sqlstate, core::UnixMicros now) {
  const bool is_new = counts->sqlstate.load() != static_cast<uint32_t>(sqlstate);
  if (!is_new && IsRecent({counts->logged_us.load()}, LogEveryUs(), now)) return false;
  counts->logged_us.store(now.value);
  return true;
}

// Whether the sequence's source failed when it was last tried. False where the sequence was
// attached to another source since.
bool HasFailed(const Counter* counter) {
  const SharedSegment* segment = counter->segment;
  return segment->retry_us.load(std::memory_order_relaxed) != 0 &&
         segment->failed_file.load(std::memory_order_relaxed) == file_of(counter->file);
}

}  // namespace

void note_failure(const Counter* counter, const CentralSource& source, const Failure& failure,
                  Urgency urgency, core::UnixMicros began) {
  SharedSegment* segment = counter->segment;
  const core::UnixMicros now = unix_now();
  const int64 took_us = std::max<int64>(now.value - began.value, 0);
  segment->failure.store(failure.how);
  segment->failed_file.store(file_of(counter->file));
  segment->failed_us.store(now.value);
  segment->retry_us.store(now.value +
                          std::clamp<int64>(2 * took_us, USECS_PER_SEC, 60 * USECS_PER_SEC));
  const bool is_to_be_logged =
      urgency == Urgency::kEarly && IsToBeLogged(&segment->source, failure.sqlstate, now);
  CountFailure(&segment->source, failure.sqlstate);
  if (!is_to_be_logged) return;
  // A client must not learn where the server is.
  ereport(LOG_SERVER_ONLY,
          (errcode(failure.sqlstate),
           errmsg("could not allocate numbers from server \"%s\" for sequence \"%s\"",
                  source.server, get_rel_name(counter->relid)),
           errdetail("It took " INT64_FORMAT " ms; failures so far: " UINT64_FORMAT
                     ", numbers left here: " UINT64_FORMAT ". %s",
                     took_us / 1000, segment->source.failures.load(), core::Left(segment->numbers),
                     failure.why)));
}

bool IsToWait(const Counter* counter) {
  if (!HasFailed(counter)) return false;
  // A clock that was set back is no reason to wait longer.
  const SharedSegment* segment = counter->segment;
  const core::UnixMicros now = unix_now();
  return now.value < segment->retry_us.load(std::memory_order_relaxed) &&
         now.value >= segment->failed_us.load(std::memory_order_relaxed);
}

bool IsDown(const Counter* counter) {
  return HasFailed(counter) && counter->segment->failure.load() == SourceFailure::kDown;
}

}  // namespace snowid::pg
