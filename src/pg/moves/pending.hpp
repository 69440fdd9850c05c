// Changes of slots by a transaction that moves shards. PostgreSQL undoes rows of the table with the
// transaction or a savepoint. Slots are memory, so callbacks undo or complete their changes:
//
// - A shard that the transaction releases is closed at once, for everybody. If the transaction, or
//   the part of it that has released the shard, is rolled back, the slot is opened again.
// - A shard that it accepts back is opened when it commits.
//
// Shared: Slot::last_tick. All of it happens under released_lock(), which PostgreSQL releases after
// these callbacks.
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// Closes a slot. Returns its last tick before, above which nothing was issued; of one that this
// transaction is to open, the one above which it would have been; of one that was closed already,
// the one that the ceiling allows. EndOf(layout) where the layout is used up.
core::Tick pending_close(Slot* slot, const core::Layout& layout);

// Has a closed slot issue IDs above `last` when the transaction commits.
void pending_open(Slot* slot, core::Tick last);

// Where this transaction is to open a slot: above which tick. It may be raised. nullptr where it is
// not to.
core::Tick* pending_opening_of(const Slot* slot);

}  // namespace snowid::pg
