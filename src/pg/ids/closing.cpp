// Asking whether a shard is closed. See closing.hpp.
#include "pg/ids/closing.hpp"

namespace snowid::pg {

constinit ClosedShards closed_shards = {
    [](const core::Layout&, int64) { return false; }, [](const core::Layout&, int64) {},
    [](const core::Layout&, core::Shard, const Slot*) {}, [] {}};

void raise_slot(const core::Layout& layout, core::Shard shard, Slot* slot, core::Tick last) {
  uint64_t seen = slot->last_tick.load(std::memory_order_acquire);
  // A closed slot is not taken for one that is past it: it may be opened again, where it was
  // closed.
  for (;;) {
    if (seen == EndOf(layout).value) {
      closed_shards.refuse(layout, shard, slot);
      if (IsAtEnd(slot, layout) && IsUsedUp(layout)) return;
      seen = slot->last_tick.load(std::memory_order_acquire);
    } else if (seen >= last.value ||
               slot->last_tick.compare_exchange_weak(seen, last.value, std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace snowid::pg
