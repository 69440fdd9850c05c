// Statistics of IDs, and their messages in the server's log: callers that wait for the clock or get
// an error, a clock that moved backward; and a layout's end, which is only logged. Each event is
// noted on the slow path, or once in a transaction. The views snowid.stat_shards and
// snowid.stat_database show the counts.
//
// Shared: counts and logged_us of the database's entry, and Slot::uses: atomics that no promise
// rests on. Each is read by itself: what comes meanwhile may be in one and not yet in another.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "core/types.hpp"
#include "pg/database/database.hpp"

extern "C" {
#include "portability/instr_time.h"
}

namespace snowid::pg {

// The shard that an event is about.
struct EventOf {
  const core::Layout& layout;
  core::Shard shard;
  bool has_shard;  // false for the kinds of ID that know none
};

// A caller's wait for the clock, of snowid.max_wait in all. All zero at first.
struct ClockWait {
  bool has_begun;
  bool is_counted;
  bool is_logged;
  instr_time since;
  int64 counted_us;
};

// Counts what has passed of a wait that has begun, and may go on. next: the time of the ID that the
// caller waits for.
void note_wait(const EventOf& event, ClockWait* wait, core::UnixMicros next);

// A caller is about to get an error. reason: for the log, a sentence.
void note_refusal(const EventOf& event, const char* reason);

// From here on note_end() logs, once a day in each database, that a layout's time is almost
// exhausted.
constexpr core::UnixMicros warn_from(const core::Layout& layout) {
  constexpr int64 kYearUs = int64{365} * SECS_PER_DAY * USECS_PER_SEC;
  return {layout.end.value - kYearUs};
}
void note_end(const core::Layout& layout);

// Looks whether the clock moved backward since any session of this database has last looked. By
// less than 5 ms goes unnoticed: processors' clocks may differ.
void note_clock();

// Resets all counts of this database but those of counters (counters/counter_stats.hpp).
// Raises: as slots_attach().
void reset_id_stats();

}  // namespace snowid::pg
