// Events that are counted and logged: callers that wait for the clock or are refused, a clock that
// was set back; and a layout's end, which is only logged. All of them are noted on the slow path,
// or once in a transaction.
//
// Shared: EventCounts and logged_us of the database's entry, atomics that no promise rests on.
#pragma once

#include "pg/database/database.hpp"

namespace snowid::pg {

// What the log says of an event.
struct EventOf {
  const core::Layout& layout;
  core::Shard shard;
  bool has_shard;  // false for the kinds of ID that know none
};

// A caller's wait as it is counted, all zero at first.
struct CountedWait {
  int64 counted_us;
  bool is_counted;
  bool is_logged;
};

// A caller has waited for `waited_us` in all, and may wait again. next: the time of the ID that it
// waits for.
void note_wait(const EventOf& event, CountedWait* wait, int64 waited_us, core::UnixMicros next);

// A draw is about to be refused. reason: for the log, a sentence.
void note_refusal(const EventOf& event, const char* reason);

// From here on note_end() logs, once a day in each database, that a layout's time is almost used
// up.
constexpr core::UnixMicros warn_from(const core::Layout& layout) {
  constexpr int64 kYearUs = int64{365} * SECS_PER_DAY * USECS_PER_SEC;
  return {layout.end.value - kYearUs};
}
void note_end(const core::Layout& layout);

// An ID was issued `lead_us` ahead of the clock; nothing is counted where that is not above 0.
void note_lead(int64 lead_us);

// Looks whether the clock was set back since any session of this database has last looked. By less
// than kClockNoiseUs goes unnoticed: processors' clocks may differ.
void note_clock();
inline constexpr int64 kClockNoiseUs = 5000;

}  // namespace snowid::pg
