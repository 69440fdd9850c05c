// Statistics of IDs and their log messages: callers that wait for the clock or get an error, a
// clock that moved backward, and layouts near their end, which are only logged. Events are recorded
// on the slow path or once per transaction. The views snowid.stat_shards and snowid.stat_database
// show the counts.
//
// Shared: counts and logged_us of the database's entry, and Slot::uses: independent atomics. No
// promise depends on them.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "core/types.hpp"
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
  bool has_begun;
  bool is_counted;
  bool is_logged;
  instr_time since;
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

// Checks whether the clock moved backward since any session of this database checked. Less than 5
// ms is ignored: processors' clocks may differ.
void note_clock();

// Resets all counts of this database except those of counters (counters/counter_stats.hpp). Raises:
// as slots_attach().
void reset_id_stats();

}  // namespace snowid::pg
