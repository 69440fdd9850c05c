// Wild times of a database (core/wild.hpp), as ids meet them: no ID gets one. The quick path knows
// nothing of them: the alert ends before the first one that slots have not been lifted over. On the
// slow path another room says how far IDs may go, and lifts the slots.
//
// Shared: Database::wild and has_wild of the shared entry. They are written by the first session
// that reads the ceiling's page, with the lock held, and by who has the database alone
// (ceiling_set_back). So once has_wild is seen the ranges can be read without a lock.
#pragma once

#include "pg/ids/database.hpp"

namespace snowid::pg {

// The wild times. The ceiling must have been learned, here and in the next two.
inline const core::WildTimes& WildTimesNow() {
  static constexpr core::WildTimes kNone{};
  return shared_database->has_wild.load(std::memory_order_acquire) ? shared_database->wild : kNone;
}

// Up to when every time counts as used.
inline core::UnixMicros SharedFloor() {
  return {shared_database->floor_us.load(std::memory_order_acquire)};
}

// How long before a range slots are lifted over it, in microseconds.
inline int64 LiftEarlyUs() {
  return core::LiftEarlyBy(shared_database->longest_unit_us.load(std::memory_order_acquire));
}

// From when on the lead of IDs counts, at `clock`: see core::LeadFrom().
inline core::UnixMicros LeadFromNow(core::UnixMicros clock) {
  return LeadFrom(WildTimesNow(), clock, SharedFloor(), LiftEarlyUs());
}

// How far IDs of a layout may go.
struct Reach {
  core::UnixMicros clock;
  core::UnixMicros lead_from;   // from when on their lead counts
  core::UnixMicros limit;       // no unit of time may begin after this
  core::UnixMicros limit_ends;  // when the clock is here that limit is another
};

// Set by the room that steps over wild times: reads the clock, and lifts this database's slots over
// a range that is due, durably. Fails as ceiling_lift() does.
extern Reach (*reach_hook)(const core::Layout& layout);

}  // namespace snowid::pg
