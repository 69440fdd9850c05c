// How far IDs may go, so that none gets a wild time (core/wild.hpp). The quick path need not check:
// the alert is never later than a day before the first range that slots have not been lifted over.
// On the slow path another room says how far IDs may go, and lifts the slots.
//
// Shared: Database::longest_unit_us, and what ceiling/wild.hpp reads.
#pragma once

#include "pg/database/database.hpp"

namespace snowid::pg {

// The ceiling must have been learned, here and in the next one.

// How long before a range slots are lifted over it, in microseconds.
inline int64 LiftEarlyUs() {
  return core::LiftEarlyBy(shared_database->longest_unit_us.load(std::memory_order_acquire));
}

// From when on the lead of IDs counts, at `clock`: see core::LeadFrom().
inline core::UnixMicros LeadFromNow(core::UnixMicros clock) {
  return LeadFrom(WildTimesNow(), clock, SharedFloor(), LiftEarlyUs());
}

// Set by the room that steps over wild times: reads the clock, and lifts this database's slots over
// a range that is due, durably. Fails as ceiling_lift() does.
extern core::Reach (*reach_hook)(const core::Layout& layout);

}  // namespace snowid::pg
