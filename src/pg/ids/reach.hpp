// How far IDs may go, so that none gets a wild time (core/wild.hpp). The quick path need not check:
// the alert is never later than a day before the first range that slots have not been lifted over.
// The slow path does: before the clock comes to a wild time, the first session to ask lifts all
// slots of the database over it.
//
// Shared: Database::longest_unit_us, and the skipped times of ceiling.hpp.
#pragma once

#include "pg/ceiling/ceiling.hpp"
#include "pg/database/database.hpp"

namespace snowid::pg {

// The ceiling must have been learned, here and in the next one.

// How long before a range slots are lifted over it, in microseconds.
inline int64 lift_early_us() noexcept {
  return core::lift_early_by(shared_database->longest_unit_us.load(std::memory_order_acquire));
}

// From when on the lead of IDs counts, at `clock`: see core::lead_begin().
inline core::UnixMicros lead_from_now(core::UnixMicros clock) noexcept {
  return lead_begin(wild_times_now(), clock, shared_floor(), lift_early_us());
}

// Reads the clock, and lifts this database's slots over a range that is due, durably. Fails as
// ceiling_lift() does.
core::Reach reach_now(const core::Layout& layout);

}  // namespace snowid::pg
