// Which shards have been released: the table snowid.released_shards.
//
// Shared: the table. Who changes what it says of a shard, or opens or closes the shard's slot, has
// released_lock() until the end of his transaction; who looks while he makes a slot, or because he
// has found one at its end, has the weaker lock for as long (ids/closing.hpp). Each takes the
// heavyweight lock before any of snowid's LWLocks.
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// A row.
struct Release {
  HeapTuple row;         // a copy
  int64 id;              // what snowid_release() has returned
  const char* moved_to;  // where the shard went, nullptr where nobody has told
  TimestampTz released_at;
};

// Has ids ask this table. Called once, when the library is loaded.
void released_register();

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
