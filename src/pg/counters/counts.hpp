// What segments and sections count of themselves, for statistics and the server's log.
//
// Shared: atomics in the entries, see store.hpp, which anybody reads without a lock. Whoever
// has the right to refill adds to them; counters_reset_counts() zeroes them at any time. Two that
// tell the log at once may both do.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Refills that have allocated numbers. Times in microseconds.
struct RefillCounts {
  std::atomic<uint64_t> refills;
  std::atomic<uint64_t> total_us;
  std::atomic<uint64_t> longest_us;
  std::atomic<int64_t> logged_us;  // when the log was last told of a slow one; Unix, 0 for never
};

// Counts a refill that began then and is done. Returns how long it took, in microseconds.
int64 CountRefill(RefillCounts* counts, instr_time began);

// Tells the log of a refill that took long: over a second, and none of this sequence in the last
// minute. The caller has given the right back.
void log_if_slow(RefillCounts* counts, Oid relid, int64 took_us);

}  // namespace snowid::pg
