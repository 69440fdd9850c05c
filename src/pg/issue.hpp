// Issuing IDs: the clock, the tick and the ceiling put together. This is the path that every ID
// takes.
//
// Shared: the slot's tick word, moved as core/tick.hpp says, and my_database->alert_us, read. The
// quick path takes no lock; the slow one, behind issue_slowly(), waits for the clock and raises the
// ceiling.
#pragma once

#include "pg/ceiling.hpp"
#include "pg/clock.hpp"
#include "pg/place.hpp"
#include "pg/settings.hpp"

namespace snowid::pg {

// From here on the log is told that the layout's time is almost used up.
constexpr core::UnixMicros warn_from(const core::Layout& layout) {
  constexpr int64 kYearUs = int64{365} * SECS_PER_DAY * USECS_PER_SEC;
  return {layout.end.value - kYearUs};
}

// The last ID that this session got, of whatever shard; kNoId before the first.
extern int64 session_last_id;

// The place of a shard, ready to draw from. Fails with 22023 where the layout has no such shard,
// and with what ceiling_learn() and shared_slot() fail with.
static pg_attribute_always_inline Place place_of(PlaceDirectory* directory, int64 shard) {
  if (unlikely(!ceiling_known)) ceiling_learn();
  Place place = FindPlace(directory, shard);
  if (unlikely(place.slot == nullptr)) place = place_make(directory, shard);
  return place;
}

// As issue(), for where that cannot go on: waits for the clock, raises the ceiling, or reports why
// there is no ID. Always grants something.
core::Grant issue_slowly(const core::Layout& layout, core::Shard shard, Slot* slot, uint32 want,
                         core::Span span);

// Takes up to `want` IDs of a shard, as core::Take does, and at least one. Fails with 2200H where
// the layout's time is used up, and with kClockBehind where the clock is too far behind. Inlined,
// so that the arithmetic of a layout known to the compiler costs no division.
static pg_attribute_always_inline core::Grant issue(const core::Layout& layout, core::Shard shard,
                                                    Slot* slot, uint32 want, core::Span span) {
  const core::UnixMicros now = unix_now();
  const core::UnixMicros limit{
      std::min({now.value + max_lead_us(), my_database->alert_us.load(std::memory_order_acquire),
                warn_from(layout).value})};
  const core::Grant grant = Take(slot->last_tick, layout, TimeAt(layout, now), limit, want, span);
  if (unlikely(grant.count == 0)) return issue_slowly(layout, shard, slot, want, span);
  return grant;
}

// A slot that all databases share, as a session sees it.
struct CommonPlace {
  Slot* slot;      // nullptr where the session has not used it
  int64 floor_us;  // the floor of this database that the slot is known to be above
};

// Makes the place ready to draw from: above every time that this database may have used, by its
// floor, and, where the slot is new, above all that any database may have used if the clock was
// right. The floor of a database, which its owner can set, is no reason for others to wait: one
// that is far ahead of the clock has this caller wait, or be refused, before it counts for all.
// start: where the sequence begins if the slot is new. Fails as issue() does.
void common_make_ready(const core::Layout& layout, CommonPlace* place, core::Sequence start);

// As issue(), of one tick of a slot that all databases share.
static pg_attribute_always_inline core::Tick issue_common(const core::Layout& layout,
                                                          const CommonPlace& place) {
  return issue(layout, {0}, place.slot, 1, core::Span::kAny).first;
}

// Whether that has been done, for the floor as it is.
inline bool CommonIsReady(const CommonPlace& place) {
  return place.slot != nullptr &&
         place.floor_us == my_database->floor_us.load(std::memory_order_acquire);
}

// Keeps what snowid_currval() and snowid_lastval() give.
inline void remember(Place place, int64 id) {
  *place.last_id = id;
  session_last_id = id;
}

// The shard's next ID. `layout` is the directory's, or equal to it and known to the compiler.
static pg_attribute_always_inline int64 issue_one(PlaceDirectory* directory,
                                                  const core::Layout& layout, int64 shard) {
  const Place place = place_of(directory, shard);
  const core::Shard valid{static_cast<uint64>(shard)};
  const core::Grant grant = issue(layout, valid, place.slot, 1, core::Span::kAny);
  const int64 id = IdOf(layout, valid, grant.first).value;
  remember(place, id);
  return id;
}

}  // namespace snowid::pg
