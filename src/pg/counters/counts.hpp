// Counts of refills of segments and sections, for statistics and the server's log.
//
// Shared: atomics in the entries, see store.hpp, which anybody reads without a lock. The process
// that has the right to refill adds to them; counters_reset_counts() zeroes them at any time. Two
// sessions that log at the same time may both do so.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Refills that have allocated numbers. Times in microseconds.
struct RefillCounts {
  std::atomic<uint64_t> refills;
  std::atomic<uint64_t> total_us;
  std::atomic<uint64_t> longest_us;
  std::atomic<int64_t> logged_us;  // when a slow one was last logged; Unix, 0 for never
};

// Counts a refill that began then and is done. Returns how long it took, in microseconds.
int64 CountRefill(RefillCounts* counts, instr_time began);

// Logs a refill that took over a second, unless one of this sequence was logged in the last minute.
// The caller no longer has the right to refill.
void log_if_slow(RefillCounts* counts, Oid relid, int64 took_us);

}  // namespace snowid::pg
