// Which shards have been released: the table snowid_internal.released_shards.
//
// Shared: the table. A transaction that changes the row of a shard, or opens or closes the shard's
// slot, holds released_lock() until it ends. A session that makes a slot, or has found one at its
// end, holds a weaker lock meanwhile (ids/closing.hpp). Each takes the heavyweight lock before any
// of snowid's LWLocks.
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// A row.
struct Release {
  HeapTuple row;         // a copy
  int64 id;              // what snowid.release_shard() has returned
  const char* moved_to;  // where the shard went, nullptr where that was not given
  TimestampTz released_at;
};

// Sets closed_shards (ids/closing.hpp). Called once, when the library is loaded.
void released_register();

// Fails with 22023 where `id` is no ID of the shard.
void require_id_of_shard(const core::Layout& layout, int64 shard, int64 id);

// Locks a shard, and opens the table to change its row; both are locked until the end of the
// transaction. Fails with 55000 where the table is missing or was altered.
Relation released_lock(const core::Layout& layout, int64 shard);

// Finds a shard's row, whatever the caller's snapshot. Copies are in the current memory context.
bool released_find(Relation table, const core::Layout& layout, int64 shard, Release* release);

// Insert a row; say where its shard went; delete it. The table must be as released_lock() gives it.
void released_insert(Relation table, const core::Layout& layout, int64 shard, int64 id,
                     const char* moved_to);
void released_update(Relation table, const Release& release, const char* moved_to);
void released_delete(Relation table, const Release& release);

}  // namespace snowid::pg
