// Wild times (core/wild.hpp), which the ceiling's page stores. The alert is never later than a day
// before the first range that slots have not been lifted over, so the quick path of an ID need not
// check them.
//
// Shared: SharedWild, see state.hpp.
#pragma once

#include "pg/ceiling/held.hpp"
#include "pg/ceiling/state.hpp"

namespace snowid::pg {

// The wild times of this database. For this and the next two functions the ceiling must have been
// learned.
inline const core::WildTimes& wild_times_now() noexcept {
  static constexpr core::WildTimes kNone{};
  return shared_wild->has_any.load(std::memory_order_acquire) ? shared_wild->times : kNone;
}

// Up to when every time counts as used.
inline core::UnixMicros shared_floor() noexcept {
  return {shared_ceiling->floor_us.load(std::memory_order_acquire)};
}

// The latest that the alert may be.
inline core::UnixMicros last_alert() noexcept {
  return unlifted_until(wild_times_now(), shared_floor());
}

// Copies the wild times of a page to the database's entry, unless the entry has some: then they are
// the same. Fails as LWLockAcquire() does.
void learn_wild(const HeldCeiling& held, const core::WildTimes& wild);

}  // namespace snowid::pg
