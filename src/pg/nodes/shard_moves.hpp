// Changes of slots by a transaction that moves shards. PostgreSQL undoes rows of the table with the
// transaction or a savepoint. Slots are memory, so callbacks undo or complete their changes:
//
// - A shard that the transaction releases is closed at once, for all sessions. If the transaction,
//   or the savepoint after which it was released, is rolled back, the slot is opened again.
// - A shard that it accepts is opened when it commits.
//
// A transaction moves a shard once. Shared: Slot::last_tick. All of it happens under moved_lock(),
// which PostgreSQL releases after these callbacks.
//
// Changing which shards have moved to another server (ids/moved_shards.hpp).
//
// Shared: the table snowid_internal.moved_shards, under moved_lock().
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// Closes a slot. Returns a tick above all that were issued, at or above the clock's, which is not
// issued here either if the transaction is rolled back. For a slot that is closed already, the tick
// is above the ceiling. end_of(layout) if the layout is used up. Raises 55000 if this transaction
// has moved the shard.
core::Tick pending_close(Slot* slot, const core::Layout& layout);

// Has a slot issue IDs above `last` when the transaction commits. Raises 55000 likewise.
void pending_open(Slot* slot, core::Tick last);

// Called by module.cpp.
void at_eoxact_moves(XactEvent event);
void at_eosubxact_moves(SubXactEvent event, SubTransactionId part, SubTransactionId parent);

// Stores a shard's row; in the place of `old`, if that is not nullptr. The table must be as
// moved_lock() returns it. Raises 55000 if something that a superuser has added to the table has
// stored another row, or none.
void moved_store(Relation table, const core::Layout& layout, int64 shard, const Moved* old,
                 const Moved& moved);

// The tick of an ID of the shard. Raises 22023 if it is another shard's.
core::Tick tick_of_shard(const core::Layout& layout, int64 shard, int64 id);

}  // namespace snowid::pg
