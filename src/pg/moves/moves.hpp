// Shards that move to another server. Which have moved is in the table
// snowid_internal.moved_shards: a row for each shard that was released or accepted on this server,
// with the ID of the last move, which never becomes less. Other rooms use moves_register() alone.
//
// Shared: the table. A transaction that changes the row of a shard, or opens or closes the shard's
// slot, holds moved_lock() until it ends. A session that makes a slot, or has found one at its end,
// holds a weaker lock meanwhile (ids/closing.hpp). Each takes the heavyweight lock before any of
// snowid's LWLocks.
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// A row.
struct Moved {
  ItemPointerData place;
  int64 id;              // returned by snowid.release_shard(), or accepted
  bool is_open;          // whether it was accepted last
  const char* moved_to;  // where a released shard went, nullptr if that was not stated
  TimestampTz moved_at;
};

// Registers this room as the one that knows which shards are closed (ids/closing.hpp). Called once,
// when the library is loaded.
void moves_register();

// Locks a shard, and opens the table to change its row; both are locked until the end of the
// transaction. Raises 55000 if the table is missing or was altered.
Relation moved_lock(const core::Layout& layout, int64 shard);

// Finds a shard's row, whatever the caller's snapshot. Texts are in the current memory context.
bool moved_find(Relation table, const core::Layout& layout, int64 shard, Moved* moved);

// Stores a shard's row; in the place of `old`, if that is not nullptr. The table must be as
// moved_lock() returns it. Raises 55000 if something that a superuser has added to the table has
// stored another row, or none.
void moved_store(Relation table, const core::Layout& layout, int64 shard, const Moved* old,
                 const Moved& moved);

// The tick of an ID of the shard. Raises 22023 if it is another shard's.
core::Tick tick_of_shard(const core::Layout& layout, int64 shard, int64 id);

}  // namespace snowid::pg
