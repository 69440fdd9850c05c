// Finding the slot of a shard (database/database.hpp), making it, and removing those that no
// session uses; and shards that have moved to another server, and issue no IDs here.
//
// Which shards have moved is in the table snowid_internal.moved_shards: a row for each shard that
// was released or accepted on this server, with the ID of the last move, which never becomes less.
// nodes/shard_moves.cpp stores the rows. The slot of a released shard is closed: it holds the
// layout's last tick. No tick comes after it, so every call takes the slow path, which reads the
// table to report why. The table is also read when a slot is made, since memory is empty when the
// server starts, and when the entries in memory may be those of a dropped database.
//
// Called in this order: close_released() for a database that may be another one; slot_of();
// refuse_released() if a slot is at its end; moved_lock() and moved_find() by the functions that
// move a shard.
//
// Shared: the table, the table of slots, and Slot::last_tick. A transaction that changes the row of
// a shard, or opens or closes the shard's slot, holds moved_lock() until it ends. A session that
// makes a slot, or has found one at its end, holds a weaker lock meanwhile: lock_shard(). Each
// takes the heavyweight lock before any of snowid's LWLocks, so no LWLock may be held in any of
// these calls.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"
#include "pg/catalog_table.hpp"
#include "pg/database/database.hpp"
#include "pg/debug.hpp"

extern "C" {
#include "catalog/pg_type.h"
}

namespace snowid::pg {

// The slot of a shard of this database, made if there is none, with this session counted in as a
// user. A slot that is made is closed if the shard is. shard: 0 to the layout's max_shard.
// Requires: the ceiling is known. Raises: 53400 if there are too many shards; 53200 or 53100 if
// there is no memory; 55000 if the table of moved shards is missing or was altered.
Slot* slot_of(const core::Layout& layout, int64 shard);

// How many slots this database has. Raises: 55000 if another library has made shared memory; 53200
// or 53100 if there is no memory.
uint64 count_of_slots();

// How much memory slots may take (shmem/bounds.hpp describes the sweep and the error beyond that).
// All shards of the default layout have room in each database: 8,192 slots of 64 bytes. These are
// slots of other layouts, of a server and of a database.
SNOWID_BOUND(max_shards, 1000000);
SNOWID_BOUND(max_shards_of_database, 250000);
// How many slots of the default layout are made before dropped databases are looked for again.
SNOWID_BOUND(shards_between_sweeps, 10000);
// The most slots that one sweep removes, which bounds its memory. The next one can come soon.
SNOWID_BOUND(most_idle_shards, 1 << 16);

// The table and its columns.
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

// A row.
struct Moved {
  ItemPointerData place;
  int64 shard;
  core::LayoutSpec layout;
  int64 id;              // returned by snowid.release_shard(), or accepted
  bool is_open;          // whether it was accepted last
  const char* moved_to;  // the server that a released shard went to, nullptr if that was not stated
  TimestampTz moved_at;
};

// Reads a row; texts are in the current memory context. Returns false if its shard, its layout or
// its state is null, which the table rejects unless it was altered.
bool moved_read(Relation table, HeapTuple row, Moved* moved);

// Finds a shard's row, whatever the caller's snapshot.
bool moved_find(Relation table, const core::Layout& layout, int64 shard, Moved* moved);

// Which object of the table is locked for a shard.
Oid lock_of(const core::Layout& layout, int64 shard);

// Locks a shard, and opens the table to change its row; both are locked until the end of the
// transaction. Raises: 55000 if the table is missing or was altered.
Relation moved_lock(const core::Layout& layout, int64 shard);

// Keeps other sessions from closing or opening a shard until unlock_shard(), or the end of the
// transaction. Returns whether it was released. May wait for a transaction that moves the shard.
// Raises: 55000 if the table is missing or was altered.
bool lock_shard(const core::Layout& layout, int64 shard);
void unlock_shard(const core::Layout& layout, int64 shard);

// Called if a slot is found at its end. Returns if it is open now, or the layout is exhausted.
// Raises: 55000 if the shard was released, or the table is missing or was altered.
void refuse_released(const core::Layout& layout, core::Shard shard, const Slot* slot);

// Closes the slots of all shards that were released. Raises: 55000 if the table was altered.
void close_released();

// Whether an ID with the layout's last time may have been issued. Where none may, a slot that is at
// its end is closed.
inline bool is_used_up(const core::Layout& layout) noexcept {
  return my_ceiling->ceiling_us.load(std::memory_order_acquire) >= layout.last_start.value;
}

// A tick above all IDs of a closed slot, if its last tick is no longer known.
inline core::Tick last_tick_by_ceiling(const core::Layout& layout) noexcept {
  return last_tick_at(layout, {my_ceiling->ceiling_us.load(std::memory_order_acquire)});
}

}  // namespace snowid::pg
