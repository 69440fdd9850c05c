// Events that are counted and logged: callers that wait for the clock or are refused, a clock that
// was set back; and a layout's end, which is only logged. All of them are noted on the slow path,
// or once in a transaction.
//
// Shared: ShardEvents, an entry of the table "shard events" for each slot that has something to
// count, and the last fields of Database; all of them atomics that no promise rests on. An entry is
// made by a user of the slot, and deleted with the slot, with the slot's partition locked: so a
// session that is counted in as a user of the slot may keep a pointer to its entry. The partitions
// of this table come after those of "slots". Where there is no memory for an entry, events are not
// counted.
#pragma once

#include "pg/database/database.hpp"

namespace snowid::pg {

// The counts begin with the start of the server, when the slot was made, or at the last reset.
struct ShardEvents {
  SlotKey key;
  std::atomic<uint64_t> waits;    // callers that waited for the clock
  std::atomic<int64_t> waits_us;  // for how long in all
  std::atomic<uint64_t> refusals;
  std::atomic<uint64_t> clock_steps_back;  // that a caller of this shard was the first to see
  // How far ahead of the clock IDs were at most, of those that were issued on the slow path.
  std::atomic<int64_t> max_lead_us;
};

SNOWID_PIN(ShardEvents, key, 0);
SNOWID_PIN(ShardEvents, waits, 32);
SNOWID_PIN(ShardEvents, waits_us, 40);
SNOWID_PIN(ShardEvents, refusals, 48);
SNOWID_PIN(ShardEvents, clock_steps_back, 56);
SNOWID_PIN(ShardEvents, max_lead_us, 64);
SNOWID_PIN_SIZE(ShardEvents, 72);

// Declared here because sweeps of slots remove these, and statistics read all of them.
extern SharedTable shard_events;

// The shard of an event. The session is a user of the slot; of slots that all databases share, and
// of slots in the session's own memory, nothing is counted.
struct EventOf {
  const core::Layout& layout;
  core::Shard shard;
  const Slot* slot;
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
void note_lead(const Slot* slot, int64 lead_us);

// Looks whether the clock was set back since any session of this database has last looked. By less
// than kClockNoiseUs goes unnoticed: processors' clocks may differ.
void note_clock(const Slot* slot);
inline constexpr int64 kClockNoiseUs = 5000;

// Forgets which entry was looked up last. To be called when the session lets go of its slots.
void ForgetEvents();

}  // namespace snowid::pg
