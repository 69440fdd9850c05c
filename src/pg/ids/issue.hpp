// Issuing IDs: the clock, the tick and the ceiling put together. This is the path that every ID
// takes.
//
// Shared: the slot's tick word, moved as core/tick.hpp says, and my_ceiling->alert_us, read. The
// quick path takes no lock; the slow one, behind issue_slowly(), waits for the clock and raises the
// ceiling.
#pragma once

#include "pg/ceiling/ceiling.hpp"
#include "pg/clock.hpp"
#include "pg/ids/counts.hpp"
#include "pg/ids/events.hpp"
#include "pg/ids/place.hpp"
#include "pg/ids/settings.hpp"

namespace snowid::pg {

// Makes the ceiling known (ceiling_learn()). Where the entries in memory may be those of a dropped
// database it first closes the slots of shards that were released here. Raises as ceiling_learn()
// and close_released() do.
void ids_learn_ceiling();
inline void require_ceiling() {
  if (unlikely(!ceiling_known)) ids_learn_ceiling();
}

// The place of a shard, ready to draw from. Fails with 22023 where the layout has no such shard,
// and with what ceiling_learn() and slot_of() fail with.
static pg_attribute_always_inline Place* place_of(PlaceDirectory* directory, int64 shard) {
  require_ceiling();
  Place* place = find_place(directory, shard);
  if (unlikely(place == nullptr)) {
    place = place_make(directory, shard);
    // Making a slot may wait, and take in an invalidation of the ceiling meanwhile.
    require_ceiling();
  }
  return place;
}

// What issue() does where its quick path takes nothing: waits for the clock, raises the ceiling,
// and takes at least one ID; or reports why there is none. Fails as issue() does.
core::Grant issue_slowly(const core::Layout& layout, core::Shard shard, Slot* slot, uint32 want,
                         core::Span span);

// Takes up to `want` IDs of a shard, as core::take() does, and at least one. The ceiling must be
// known. Fails with 2200H where the layout's time is used up, with 55000 where the shard is closed,
// with SN001 (kClockBehind) where the clock is too far behind, and as ceiling_raise() does.
// Inlined, so that a layout that the compiler knows costs no division.
static pg_attribute_always_inline core::Grant issue(const core::Layout& layout, core::Shard shard,
                                                    Slot* slot, uint32 want, core::Span span) {
  // While the clock is read the tick can come from wherever it was used last.
  constexpr int kToWrite = 1;
  __builtin_prefetch(&slot->last_tick, kToWrite);
  const core::UnixMicros now = unix_now();
  const core::UnixMicros limit{
      std::min({now.value + max_lead_us(), my_ceiling->alert_us.load(std::memory_order_acquire),
                warn_from(layout).value})};
  const core::Grant grant = take(slot->last_tick, layout, time_at(layout, now), limit, want, span);
  if (unlikely(grant.count == 0)) return issue_slowly(layout, shard, slot, want, span);
  return grant;
}

// Stores what snowid_currval() and snowid_lastval() give.
inline void remember(Place* place, int64 id) {
  place->last_id = id;
  session_last_id = id;
}

// A caller's wait for the clock, of snowid.max_wait in all.
struct ClockWait {
  bool has_begun;  // false at first
  instr_time since;
  CountedWait counted;
};

// Whether a caller may wait `for_us` more: with what it has waited already no longer than
// snowid.max_wait.
bool may_wait(ClockWait* wait, int64 for_us) noexcept;

// Sleeps for a while, not beyond `for_us`. Can be interrupted.
void wait_a_while(int64 for_us);

// Waits until the clock allows IDs with the time `moment`, snowid.max_lead ahead of it. Fails as
// report_ahead() does, at once where it would have to wait for longer than snowid.max_wait; and as
// ceiling_learn() does. what: as there.
void wait_until_allowed(const char* what, core::UnixMicros moment);

// The shard's next ID. `layout` is the directory's, or equal to it and known to the compiler.
static pg_attribute_always_inline int64 issue_one(PlaceDirectory* directory,
                                                  const core::Layout& layout, int64 shard) {
  Place* place = place_of(directory, shard);
  const core::Shard valid{static_cast<uint64>(shard)};
  const core::Grant grant = issue(layout, valid, place->slot, 1, core::Span::kAny);
  const int64 id = id_of(layout, valid, grant.first).value;
  remember(place, id);
  count_one(directory, place, shard);
  return id;
}

}  // namespace snowid::pg
