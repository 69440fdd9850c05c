// Asking whether a shard is closed. See closing.hpp.
#include "pg/ids/closing.hpp"

namespace snowid::pg {

constinit ClosedShards closed_shards = {
    [](const core::Layout&, int64) { return false; }, [](const core::Layout&, int64) {},
    [](const core::Layout&, core::Shard, const Slot*) {}, [] {}};

// What is opened issues nothing before the transaction commits: the ceiling is where it starts. So
// it need not be asked which shards the transaction itself is to open.
void open_used_up(const core::Wild& wild) {
  ListCell* cell;
  foreach (cell, find_used_up(wild.until)) {
    const auto* key = static_cast<const SlotKey*>(lfirst(cell));
    const core::Layout layout = core::MakeLayout(key->layout);
    const auto shard = static_cast<int64>(key->shard);
    if (!closed_shards.lock(layout, shard)) {
      Slot* slot = slot_of(layout, shard);
      open_slot(slot, layout, LastTickAt(layout, wild.rewound_to));
      LetGo(slot);
    }
    closed_shards.unlock(layout, shard);
  }
}

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
