// Slots of shards (database/database.hpp): finding, creating, and removing them. Moved shards.
//
// The table snowid_internal.moved_shards has a row per shard released or accepted on this server,
// with the ID of the last move, which never decreases. nodes/shard_moves.cpp stores the rows. The
// slot of a released shard is closed: it holds the layout's last tick, so every call takes the slow
// path, which reads the table for the error. It is also read when a slot is created, because memory
// is empty after a start, and when the entries in memory may be those of a dropped database.
//
// In the order of use: close_released(), for a database that may be another one; slot_of();
// refuse_released(), for a slot at its end; moved_lock() and moved_find(), by moves.
//
// Shared: the table, the slots, and Slot::last_tick. A transaction that changes the row of a shard,
// or opens or closes its slot, holds moved_lock() until it ends. A session that creates a slot, or
// finds one at its end, holds the weaker lock_shard(). Both are heavyweight locks, taken before any
// LWLock. Requires, in all functions: no LWLock is held.
#pragma once

#include "pg/postgres.hpp"

#include "pg/catalog_table.hpp"
#include "pg/database/database.hpp"
#include "pg/debug.hpp"

extern "C" {
#include "catalog/pg_type.h"
}

namespace snowid::pg {

// Finds or creates the slot of a shard, closed if the shard is, and counts this session in. shard:
// 0 to max_shard. Requires: the ceiling is known. Raises: 53400 if there are too many shards; class
// 53 if memory is short; 55000 if the table of moved shards is missing or was altered.
Slot* slot_of(const core::Layout& layout, int64 shard);

// Bounds on slots of other layouts (shmem/bounds.hpp). The default layout's 8,192 always fit.
SNOWID_BOUND(max_shards, 1000000);
SNOWID_BOUND(max_shards_of_database, 250000);
// New slots of the default layout between searches for dropped databases.
SNOWID_BOUND(shards_between_sweeps, 10000);
// The most slots removed by a sweep, which bounds its memory.
SNOWID_BOUND(most_idle_shards, 1 << 16);

struct MovedColumn {
  enum : AttrNumber { kShard = 1, kLayout, kId, kIsOpen, kTo, kAt };
};
inline constexpr int kMovedColumns = MovedColumn::kAt;
inline constexpr Oid kMovedTypes[kMovedColumns] = {INT8OID, InvalidOid, INT8OID,
                                                   BOOLOID, TEXTOID,    TIMESTAMPTZOID};
inline constexpr OwnTable kMovedShards = {.name = "moved_shards",
                                          .types = kMovedTypes,
                                          .columns = kMovedColumns,
                                          .own_type_length = sizeof(core::LayoutSpec),
                                          .nullable = MovedColumn::kTo};

struct Moved {
  ItemPointerData place;
  int64 shard;
  core::LayoutSpec layout;
  int64 id;              // returned by snowid.release_shard(), or accepted
  bool is_open;          // whether the last move accepted it
  const char* moved_to;  // the server of a released shard, nullptr if not stated
  TimestampTz moved_at;
};

// Texts are in the current memory context. Returns false if shard, layout, or state is null.
bool moved_read(Relation table, HeapTuple row, Moved* moved);

// Ignores the caller's snapshot.
bool moved_find(Relation table, const core::Layout& layout, int64 shard, Moved* moved);

// The object of the table that is locked for a shard.
Oid lock_of(const core::Layout& layout, int64 shard);

// Locks a shard, and opens the table to change its row, until the end of the transaction. Raises:
// 55000 if the table is missing or was altered.
Relation moved_lock(const core::Layout& layout, int64 shard);

// For a slot found at its end. Returns if it is open again, or the layout exhausted. Raises: 55000
// if the shard was released, or the table is missing or was altered.
void refuse_released(const core::Layout& layout, core::Shard shard, const Slot* slot);

// Closes the slots of all released shards. Raises: 55000 if the table was altered.
void close_released();

// Whether the layout's last IDs may be issued. If not, a slot at its end is closed.
inline bool is_used_up(const core::Layout& layout) noexcept {
  return my_ceiling->ceiling_us.load(std::memory_order_acquire) >= layout.last_start.value;
}

// A tick above all IDs of a closed slot with an unknown last tick.
inline core::Tick last_tick_by_ceiling(const core::Layout& layout) noexcept {
  return last_tick_at(layout, {my_ceiling->ceiling_us.load(std::memory_order_acquire)});
}

}  // namespace snowid::pg
