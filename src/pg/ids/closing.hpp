// Shards that are closed: they have moved to another server, and issue no IDs here. A closed slot
// holds the layout's last tick. So nothing comes after it, and who draws, also he who has the slot
// already, takes the slow path, which asks why; the quick path knows nothing of it.
//
// Which shards are closed another room keeps, durably. Ids ask it where a slot is made, for memory
// is empty when the server starts, where one is at its end, and where memory may be of another
// database than the one that is here.
//
// Shared: Slot::last_tick. Who changes whether a shard is closed, and its slot with it, holds until
// the end of his transaction what conflicts with ClosedShards::lock().
#pragma once

#include "pg/ids/slots.hpp"

namespace snowid::pg {

// What ids ask. Each may fail, and may wait for the end of a transaction that moves the shard: no
// LWLock may be held. They are called in parallel workers, too.
struct ClosedShards {
  // Keeps others from closing or opening the shard until unlock(), or the end of the transaction.
  // Returns whether it is closed.
  bool (*lock)(const core::Layout& layout, int64 shard);
  void (*unlock)(const core::Layout& layout, int64 shard);
  // Called where a slot is found at its end. Fails with 55000 where the shard is closed. Returns
  // where it is open now, or the layout is used up.
  void (*refuse)(const core::Layout& layout, core::Shard shard, const Slot* slot);
  // Closes the slots of all shards that are closed.
  void (*close)();
};

// By default no shard is closed.
extern ClosedShards closed_shards;

// Whether an ID with the layout's last time may have been issued. Where none may, a slot that is at
// its end is closed.
inline bool IsUsedUp(const core::Layout& layout) {
  return my_ceiling->ceiling_us.load(std::memory_order_acquire) >= layout.last_start.value;
}

// Above all that a closed slot has issued, where nobody knows its last tick any more.
inline core::Tick LastTickByCeiling(const core::Layout& layout) {
  return LastTickAt(layout, {my_ceiling->ceiling_us.load(std::memory_order_acquire)});
}

}  // namespace snowid::pg
