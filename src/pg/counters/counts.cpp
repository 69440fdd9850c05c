// Counting refills, and logging slow ones. See counts.hpp.
#include "pg/counters/counts.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/log_limit.hpp"

namespace snowid::pg {

namespace {

constexpr int64 kSlowUs = USECS_PER_SEC;

constexpr double Milliseconds(uint64_t us) { return static_cast<double>(us) / 1000; }

}  // namespace

int64 CountRefill(RefillCounts* counts, instr_time began) {
  const int64 took_us = ElapsedUs(began);
  const uint64_t us = static_cast<uint64_t>(std::max<int64>(took_us, 0));
  counts->refills.fetch_add(1, std::memory_order_relaxed);
  counts->total_us.fetch_add(us, std::memory_order_relaxed);
  if (us > counts->longest_us.load(std::memory_order_relaxed))
    counts->longest_us.store(us, std::memory_order_relaxed);
  return took_us;
}

void log_if_slow(RefillCounts* counts, Oid relid, int64 took_us) {
  if (took_us < kSlowUs) return;
  const core::UnixMicros now = unix_now();
  if (IsRecent({counts->logged_us.load(std::memory_order_relaxed)}, LogEveryUs(), now)) return;
  counts->logged_us.store(now.value, std::memory_order_relaxed);
  const uint64_t refills = std::max<uint64_t>(counts->refills.load(std::memory_order_relaxed), 1);
  const double total_ms = Milliseconds(counts->total_us.load(std::memory_order_relaxed));
  // For the log only: the client got its numbers.
  ereport(LOG_SERVER_ONLY,
          (errmsg("refilling sequence \"%s\" took " INT64_FORMAT " ms", get_rel_name(relid),
                  took_us / 1000),
           errdetail("Refills so far: " UINT64_FORMAT ", of %.1f ms on average.", refills,
                     total_ms / static_cast<double>(refills)),
           errhint("Numbers are made durable before they are given out: check the disk that has "
                   "the WAL, synchronous standbys, and the central source, if there is one.")));
}

}  // namespace snowid::pg
