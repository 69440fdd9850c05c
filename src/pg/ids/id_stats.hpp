// Statistics of IDs and their log messages: waits for the clock, errors, backward steps of the
// clock, and, only logged, layouts near their end. Recorded on the slow path or once per
// transaction, shown by the views snowid.stat_shards and snowid.stat_database.
//
// Shared: counts and logged_us of the database's entry, and Slot::uses: independent atomics.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "pg/database/database.hpp"

extern "C" {
#include "portability/instr_time.h"
}

namespace snowid::pg {

struct EventOf {
  const core::Layout& layout;
  core::Shard shard;
  bool has_shard;  // false for kinds of ID without a shard
};

// A caller's waits for the clock, together up to snowid.max_wait. Zeroed at first.
struct ClockWait {
  bool is_counted;
  bool is_logged;
  instr_time since;  // 0 before the first wait
  int64 counted_us;
};

// Counts a wait so far. next: the time of the ID waited for.
void note_wait(const EventOf& event, ClockWait* wait, core::UnixMicros next);

// Counts an error about to be raised. reason: for the log, a sentence.
void note_refusal(const EventOf& event, const char* reason);

// From here on, note_end() logs once a day per database that the layout is almost exhausted.
constexpr core::UnixMicros warn_from(const core::Layout& layout) {
  constexpr int64 kYearUs = int64{365} * SECS_PER_DAY * USECS_PER_SEC;
  return {layout.end.value - kYearUs};
}
void note_end(const core::Layout& layout);

// Logs and counts a backward step of the clock of 5 ms or more: processors' clocks may differ.
void note_clock();

// Except those of counters (counters/counter_stats.hpp). Raises: as slots_attach().
void reset_id_stats();

}  // namespace snowid::pg
