// Statistics of segments and sections: counting refills, for the views and for the server's log,
// and reading and resetting the counts.
//
// Shared: atomics in the entries, see counter_state.hpp, which anybody reads without a lock. The
// process that has the right to refill adds to them; counters_reset_counts() zeroes them at any
// time.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Refills that have allocated numbers. Times in microseconds.
struct RefillCounts {
  std::atomic<uint64_t> refills;
  std::atomic<uint64_t> total_us;
  std::atomic<uint64_t> longest_us;
  std::atomic<int64_t> logged_us;  // when a slow one was last logged, see may_log()
};

// Counts a refill that began then and is done. Returns how long it took, in microseconds.
int64 count_refill(RefillCounts* counts, instr_time began) noexcept;

// Logs a refill that took over a second, unless one of this sequence was logged in the last minute.
// The caller no longer has the right to refill.
void log_if_slow(RefillCounts* counts, Oid relid, int64 took_us);

// What a segment or a section of this database has counted since the server started, its entry in
// shared memory was made, or counters_reset_counts() was last called; and how it stands.
struct CounterStat {
  bool is_section;
  Oid relid;         // the sequence, which may have been dropped
  uint64 given;      // numbers; a section's may lag by a transaction
  uint64 remaining;  // of a segment: numbers in memory that are left
  bool is_known;     // whether numbers in memory count, and with them the next field
  int64 last_value;  // of the sequence, when numbers were last allocated
  uint64 refills;    // and how long they took, in microseconds
  uint64 total_us;
  uint64 longest_us;
  uint64 block_size;  // numbers; 0 before the first refill
  uint64 blocks;      // that the last refill has allocated
  uint64 failures;    // of a segment's central source
  int64 failed_us;    // the last one, as Unix microseconds
  int sqlstate;       // the last one's, 0 where there is none
  uint64 keys;        // of a section: those that memory knows
  uint64 evictions;   // of a section: keys that left for want of room
};

struct CounterStats {
  CounterStat* all;  // in the current memory context
  size_t count;
};

// All segments and sections in use in this database, in no order. Fails as table_attach() does.
CounterStats counters_stats();

// Zeroes what this database's segments and sections have counted. Fails as table_attach() does.
void counters_reset_counts();

}  // namespace snowid::pg
