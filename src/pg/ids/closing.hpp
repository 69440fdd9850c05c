// Closed shards: they have moved to another server, and issue no IDs here. A closed slot holds the
// layout's last tick. No tick comes after it, so every draw takes the slow path, which asks why.
// The quick path need not check.
//
// Another room stores durably which shards are closed. IDs ask it when a slot is made, since memory
// is empty when the server starts; when a slot is at its end; and when the entries in memory may be
// those of a dropped database.
//
// Shared: Slot::last_tick. A transaction that closes or opens a shard, and its slot with it, holds
// a lock until its end that conflicts with ClosedShards::lock().
#pragma once

#include "pg/ids/slots.hpp"

namespace snowid::pg {

// Functions that the room of closed shards sets, and ids call. Each may fail, and may wait for the
// end of a transaction that moves the shard: no LWLock may be held.
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
