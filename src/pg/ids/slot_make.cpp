// Making slots. See slot_make.hpp.
#include "pg/ids/slot_make.hpp"

#include "pg/ids/moved_shards.hpp"
#include "pg/ids/slot_sweep.hpp"

namespace snowid::pg {

namespace {

// Finds the slot or makes it. Returns it with its partition locked.
Slot* make_slot(const core::Layout& layout, const SlotKey& key, bool is_closed) {
  const Quota& quota = slots_require_room(key);
  Usage* usage = usage_lock(quota, MyDatabaseId);
  bool made;
  auto* slot = static_cast<Slot*>(table_find_or_make(slots, &key, &made));
  if (made) {
    const core::Tick last = is_closed ? end_of(layout) : my_start_tick(layout);
    slot->last_tick.store(last.value, std::memory_order_relaxed);
    count_made(quota, usage);
  }
  usage_unlock(quota, usage);
  return slot;
}

}  // namespace

Slot* slot_of(const core::Layout& layout, int64 shard) {
  const SlotKey key = slot_key_of(layout, shard);
  auto* slot = static_cast<Slot*>(table_find(slots, &key, false));
  const bool is_new = slot == nullptr;
  // Done without a lock on a partition, since lock_shard() may wait for a transaction.
  if (is_new) {
    // Before the slot is made: a session that finds the slot, with its partition locked, sees this
    // store, too.
    raise_time(&shared_database->longest_unit_us, layout.unit_us);
    slot = make_slot(layout, key, lock_shard(layout, shard));
  }
  hold(slot);
  table_release(slots, slot);
  if (is_new) unlock_shard(layout, shard);
  return slot;
}

}  // namespace snowid::pg
