// Remembering failures of central sources. See failure.hpp.
#include "pg/central/failure.hpp"

#include "pg/clock.hpp"

namespace snowid::pg {

namespace {

// Whether to log a failure that is not counted yet. If so, it counts as logged.
bool may_log_failure(FailureCounts* counts, int sqlstate) noexcept {
  if (counts->sqlstate.load() != static_cast<uint32_t>(sqlstate)) counts->logged_us.store(0);
  return may_log(&counts->logged_us);
}

// Whether the source failed when it was last tried. False where the sequence was attached to
// another source since.
bool has_failed(const LastFailure& last, FileNumber file) noexcept {
  return last.retry_us.load(std::memory_order_relaxed) != 0 &&
         last.file.load(std::memory_order_relaxed) == file;
}

}  // namespace

void count_failure(FailureCounts* counts, int sqlstate) noexcept {
  counts->failures.fetch_add(1, std::memory_order_relaxed);
  counts->failed_us.store(unix_now().value, std::memory_order_relaxed);
  counts->sqlstate.store(static_cast<uint32_t>(sqlstate), std::memory_order_relaxed);
}

void note_failure(const SourceUser& user, const CentralSource& source, const Failure& failure,
                  Urgency urgency) {
  const core::UnixMicros now = unix_now();
  const int64 took_us = std::max<int64>(now.value - failure.began.value, 0);
  user.last->kind.store(failure.kind);
  user.last->file.store(user.file);
  user.last->failed_us.store(now.value);
  user.last->retry_us.store(now.value +
                            std::clamp<int64>(2 * took_us, USECS_PER_SEC, 60 * USECS_PER_SEC));
  const bool is_to_be_logged =
      urgency == Urgency::kEarly && may_log_failure(user.counts, failure.sqlstate);
  count_failure(user.counts, failure.sqlstate);
  if (!is_to_be_logged) return;
  // A client must not learn where the server is.
  ereport(LOG_SERVER_ONLY,
          (errcode(failure.sqlstate),
           errmsg("could not allocate numbers from server \"%s\" for sequence \"%s\"",
                  source.server, get_rel_name(source.relid)),
           errdetail("It took " INT64_FORMAT " ms; failures so far: " UINT64_FORMAT
                     ", numbers left here: " UINT64_FORMAT ". %s",
                     took_us / 1000, user.counts->failures.load(), user.left, failure.why)));
}

bool is_retry_too_early(const LastFailure& last, FileNumber file) noexcept {
  if (!has_failed(last, file)) return false;
  // A clock that was set back is no reason to wait longer.
  const core::UnixMicros now = unix_now();
  return now.value < last.retry_us.load(std::memory_order_relaxed) &&
         now.value >= last.failed_us.load(std::memory_order_relaxed);
}

bool is_unreachable_source(const LastFailure& last, FileNumber file) noexcept {
  return has_failed(last, file) && last.kind.load() == FailureKind::kDown;
}

}  // namespace snowid::pg
