// Learning the wild times from a page. See wild.hpp.
#include "pg/ceiling/wild.hpp"

#include "pg/debug.hpp"

namespace snowid::pg {

void learn_wild(const HeldCeiling& held, const core::WildTimes& wild) {
  assert_holds_exclusively(held.ceiling->lock);
  if (wild.count == 0 || shared_wild->has_any.load(std::memory_order_acquire)) return;
  // A sequence that this transaction has made has those of memory.
  Assert(!held.is_stand_in());
  shared_wild->times = wild;
  shared_wild->has_any.store(true, std::memory_order_release);
}

}  // namespace snowid::pg
