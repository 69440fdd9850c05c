// Wild times (core/wild.hpp) as far as the ceiling goes: its page keeps them, and the alert ends
// before the first one that slots have not been lifted over. So the quick path of an ID knows
// nothing of them.
//
// Shared: SharedWild, see state.hpp.
#pragma once

#include "pg/ceiling/held.hpp"
#include "pg/ceiling/state.hpp"

namespace snowid::pg {

// The wild times. The ceiling must have been learned, here and in the next two.
inline const core::WildTimes& WildTimesNow() {
  static constexpr core::WildTimes kNone{};
  return shared_wild->has_any.load(std::memory_order_acquire) ? shared_wild->times : kNone;
}

// Up to when every time counts as used.
inline core::UnixMicros SharedFloor() {
  return {shared_ceiling->floor_us.load(std::memory_order_acquire)};
}

// The alert is not above this.
inline core::UnixMicros AlertEnd() { return UnliftedUntil(WildTimesNow(), SharedFloor()); }

// Has the database's entry know the wild times that a page has, unless it knows some: then they are
// these. Fails as LWLockAcquire() does.
void learn_wild(const HeldCeiling& held, const core::WildTimes& wild);

}  // namespace snowid::pg
