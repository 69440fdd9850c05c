// Learning the wild times from a page. See wild.hpp.
#include "pg/ceiling/wild.hpp"

#include "pg/base/locks.hpp"

namespace snowid::pg {

void learn_wild(const HeldCeiling& held, const core::WildTimes& wild) {
  AssertHoldsExclusively(held.ceiling->lock);
  if (wild.count == 0 || shared_wild->has_any.load(std::memory_order_acquire)) return;
  const bool is_locked = held.ceiling == shared_ceiling;
  if (!is_locked) LWLockAcquire(&shared_ceiling->lock, LW_EXCLUSIVE);
  if (!shared_wild->has_any.load(std::memory_order_relaxed)) {
    shared_wild->times = wild;
    shared_wild->has_any.store(true, std::memory_order_release);
  }
  if (!is_locked) LWLockRelease(&shared_ceiling->lock);
}

}  // namespace snowid::pg
