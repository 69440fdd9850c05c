// In this order: counting, sweeping, and creating slots; locking shards, and reading the table of
// moved ones; closing slots of released shards.
//
// A sweep may remove a slot without users if its tick is not after the start of a new slot, which
// follows from the database's floor and the times up to which it was swept. A slot that is created
// again therefore issues only greater IDs:
// - The times are stored before slots are scanned. They only grow, except that
//   snowid.return_to_clock() lowers them, so they are read again for each slot.
// - A session that creates the slot again reads these times, or greater ones, under its partition's
//   lock, after the removal.
// - No process has a pointer to the old slot, because the slot would have a user.
//
// Units of time that have not ended do not count: a new slot could issue nothing until they end.
#include "pg/ids/shards.hpp"

#include "pg/clock.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/shmem/bounds.hpp"
#include "pg/types/layout.hpp"

extern "C" {
#include "access/genam.h"
#include "access/skey.h"
#include "access/table.h"
#include "lib/dshash.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace snowid::pg {

namespace {

Oid locked_table = InvalidOid;

// Keeps a shard from being closed or opened until unlock_shard() or the end of the transaction, and
// finds its row. May wait for a move. Raises: 55000 as moved_lock().
bool lock_shard(const core::Layout& layout, int64 shard, Moved* moved) {
  assert_holds_none();
  Relation table = own_table_open(kMovedShards, AccessShareLock);
  locked_table = RelationGetRelid(table);
  LockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  const bool is_found = moved_find(table, layout, shard, moved);
  table_close(table, NoLock);
  return is_found;
}

void unlock_shard(const core::Layout& layout, int64 shard) {
  UnlockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  UnlockRelationOid(locked_table, AccessShareLock);
}

// Slots of the default layout are only counted.
Quota default_quota = make_quota(nullptr, "usage of shards");
Quota other_quota = make_quota(
    [] {
      return Bounds{static_cast<uint64>(max_shards), static_cast<uint64>(max_shards_of_database)};
    },
    "usage of other shards");

Quota& quota_of(const SlotKey& key) {
  return key.layout == core::kInstagram.spec ? default_quota : other_quota;
}

struct Swept {
  Oid oid;  // the key
  bool is_dropped;
  core::SlotStart start;
};

// Stores in the databases within the bound up to when they are swept, and returns a table of Swept
// with all databases. The time is 1 s ago, because slots used since are worth keeping, and at most
// the ceiling, or new slots could issue nothing after a clock was ahead for a moment.
HTAB* sweep_databases(Bound bound) {
  const int64 past_us = unix_now().value - USECS_PER_SEC;
  HTAB* found = make_hash<Oid, Swept>("snowid sweep", CurrentMemoryContext);
  dshash_seq_status scan;
  dshash_seq_init(&scan, databases.attached, false);
  while (auto* database = static_cast<Database*>(dshash_seq_next(&scan))) {
    if (is_within(bound, database->oid)) {
      raise_time(&database->swept_us, past_us);
      raise_time(&database->swept_ceiling_us,
                 database->ceiling.ceiling_us.load(std::memory_order_acquire));
    }
    auto* swept = static_cast<Swept*>(hash_search(found, &database->oid, HASH_ENTER, nullptr));
    swept->start = slot_start_of(database);
  }
  dshash_seq_term(&scan);
  return found;
}

// A closed slot of a dropped database qualifies: the floor is above all of its IDs.
bool is_behind(const Slot* slot, const core::Layout& layout, const core::SlotStart& start,
               bool is_dropped) noexcept {
  const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
  return last <= start_tick_of(layout, start) || (is_dropped && last == end_of(layout));
}

// Raises the floor of a dropped database above its IDs, in case a new one gets the OID before the
// entry is removed. Those of a transaction-local ceiling may be later: a later sweep removes them.
void raise_floor_of(Swept* swept) {
  auto* database = static_cast<Database*>(dshash_find(databases.attached, &swept->oid, false));
  if (database == nullptr) return;
  raise_time(
      &database->ceiling.floor_us,
      std::max(database->ceiling.ceiling_us.load(std::memory_order_acquire), unix_now().value));
  swept->start = slot_start_of(database);
  dshash_release_lock(databases.attached, database);
}

// Finds at most most_idle_shards removable slots: within the bound, or of dropped databases.
uint32 find_idle(HTAB* found, Bound bound, SlotKey* idle) {
  uint32 count = 0;
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  core::Layout recent = core::kInstagram;
  while (const auto* slot = static_cast<Slot*>(dshash_seq_next(&scan))) {
    auto* swept = static_cast<Swept*>(hash_search(found, &slot->key.database, HASH_FIND, nullptr));
    if (swept == nullptr || is_in_use(slot)) continue;
    if (!swept->is_dropped && !is_within(bound, slot->key.database)) continue;
    if (is_behind(slot, slot_layout(slot, &recent), swept->start, swept->is_dropped) &&
        count < static_cast<uint32>(most_idle_shards))
      idle[count++] = slot->key;
  }
  dshash_seq_term(&scan);
  return count;
}

// snowid.return_to_clock() may have lowered the start. Lock order: database, its usage, slots.
void remove_if_idle(const SlotKey& idle, bool is_dropped) {
  auto* database = static_cast<Database*>(dshash_find(databases.attached, &idle.database, false));
  if (database == nullptr) return;
  const Quota& quota = quota_of(idle);
  Usage* usage = usage_lock(quota, idle.database);
  auto* slot = static_cast<Slot*>(dshash_find(slots.attached, &idle, true));
  if (slot != nullptr) {
    core::Layout recent = core::kInstagram;
    if (!is_in_use(slot) &&
        is_behind(slot, slot_layout(slot, &recent), slot_start_of(database), is_dropped)) {
      table_delete(slots, slot);
      count_gone(quota, usage);
    } else {
      dshash_release_lock(slots.attached, slot);
    }
  }
  usage_unlock(quota, usage);
  dshash_release_lock(databases.attached, database);
}

void remove_database(Oid oid) {
  auto* database = static_cast<Database*>(dshash_find(databases.attached, &oid, true));
  if (database == nullptr) return;
  // Only users of a database create its slots: without any, the counts are final.
  if (database->users.load(std::memory_order_acquire) == 0 &&
      count_of_database(default_quota, oid) == 0 && count_of_database(other_quota, oid) == 0)
    table_delete(databases, database);
  else
    dshash_release_lock(databases.attached, database);
}

// Removes unused slots within the bound, and those of dropped databases.
void sweep_slots(Bound bound) {
  quota_attach(&default_quota);
  quota_attach(&other_quota);
  HTAB* found = sweep_databases(bound);
  bool has_dropped = false;
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, found);
  while (auto* swept = static_cast<Swept*>(hash_seq_search(&scan))) {
    swept->is_dropped = !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(swept->oid));
    if (swept->is_dropped) raise_floor_of(swept);
    has_dropped |= swept->is_dropped;
  }
  if (bound == Bound::kNone && !has_dropped) return hash_destroy(found);

  auto* idle = static_cast<SlotKey*>(palloc(most_idle_shards * sizeof(SlotKey)));
  const uint32 count = find_idle(found, bound, idle);
  for (uint32 i = 0; i < count; i++) {
    const auto* swept =
        static_cast<Swept*>(hash_search(found, &idle[i].database, HASH_FIND, nullptr));
    remove_if_idle(idle[i], swept->is_dropped);
  }
  hash_seq_init(&scan, found);
  while (const auto* swept = static_cast<Swept*>(hash_seq_search(&scan)))
    if (swept->is_dropped) remove_database(swept->oid);
  hash_destroy(found);
  pfree(idle);
}

// Raises: 53400 if this database has no room for the slot.
Quota& slots_require_room(const SlotKey& key) {
  if (!(key.layout == core::kInstagram.spec)) {
    const Bound bound = quota_make_room(&other_quota, sweep_slots);
    if (bound != Bound::kNone)
      ereport(ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
              errmsg("too many shards of layouts other than \"instagram\" are in use"),
              errdetail_full(other_quota, bound));
  }
  quota_attach(&default_quota);
  if (has_grown(default_quota, static_cast<uint64>(shards_between_sweeps))) {
    sweep_slots(Bound::kNone);
    note_swept(default_quota);
  }
  return quota_of(key);
}

// Returns the slot, found or created, with its partition locked.
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

[[noreturn]] void report_released(const core::Layout& layout, core::Shard shard, const Moved* row) {
  const bool is_accepted = row != nullptr && row->is_open;
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg("shard " UINT64_FORMAT " of layout \"%s\" was released", shard.value,
             layout_text(layout.spec)),
      row == nullptr || is_accepted ? 0
      : row->moved_to == nullptr
          ? errdetail("It issues no IDs on this server since %s.",
                      timestamptz_to_str(row->moved_at))
          : errdetail("It issues no IDs on this server since %s. It has moved to: %s",
                      timestamptz_to_str(row->moved_at), row->moved_to),
      is_accepted
          ? errhint("It issues IDs after the commit of the transaction with snowid.accept_shard().")
          : errhint("Generate its IDs on the server it has moved to. When it comes back, call "
                    "snowid.accept_shard() with the ID returned by snowid.release_shard() on the "
                    "other server."));
}

bool is_slot_open(const SlotKey& key, const core::Layout& layout) {
  auto* slot = static_cast<Slot*>(dshash_find(slots.attached, &key, false));
  if (slot == nullptr) return false;
  const bool is_open = !is_at_end(slot, layout);
  dshash_release_lock(slots.attached, slot);
  return is_open;
}

void close_slot(const SlotKey& key, const core::Layout& layout) {
  auto* slot = static_cast<Slot*>(dshash_find(slots.attached, &key, false));
  if (slot == nullptr) return;
  close_tick(slot->last_tick, layout);
  dshash_release_lock(slots.attached, slot);
}

}  // namespace

bool moved_read(Relation table, HeapTuple row, Moved* moved) {
  using Column = MovedColumn;
  // By number, because columns may have been added and dropped.
  Datum values[kMovedColumns + 1];
  bool nulls[kMovedColumns + 1];
  for (int i = 1; i <= kMovedColumns; i++)
    values[i] = heap_getattr(row, i, RelationGetDescr(table), &nulls[i]);
  if (nulls[Column::kShard] || nulls[Column::kLayout] || nulls[Column::kIsOpen]) return false;
  *moved = {row->t_self,
            DatumGetInt64(values[Column::kShard]),
            *reinterpret_cast<const core::LayoutSpec*>(DatumGetPointer(values[Column::kLayout])),
            nulls[Column::kId] ? 0 : DatumGetInt64(values[Column::kId]),
            DatumGetBool(values[Column::kIsOpen]),
            nulls[Column::kTo] ? nullptr : TextDatumGetCString(values[Column::kTo]),
            nulls[Column::kAt] ? 0 : DatumGetTimestampTz(values[Column::kAt])};
  return true;
}

// Shards share 1,024 locks: a transaction may move thousands, and the server has few locks.
Oid lock_of(const core::Layout& layout, int64 shard) {
  const SlotKey key = slot_key_of(layout, shard);
  return hash_bytes(reinterpret_cast<const unsigned char*>(&key), kSlotKeySize) % 1024;
}

Relation moved_lock(const core::Layout& layout, int64 shard) {
  assert_holds_none();
  Relation table = own_table_open(kMovedShards, RowExclusiveLock);
  LockDatabaseObject(RelationGetRelid(table), lock_of(layout, shard), 0, ExclusiveLock);
  return table;
}

bool moved_find(Relation table, const core::Layout& layout, int64 shard, Moved* moved) {
  bool is_found = false;
  ScanKeyData key;
  Assert(CheckRelationLockedByMe(table, AccessShareLock, true));
  const Oid index = own_key_of(table);
  ScanKeyInit(&key, MovedColumn::kShard, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(shard));
  // With its own snapshot, because the caller's may be older than the row.
  SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
  for (HeapTuple row; !is_found && HeapTupleIsValid(row = systable_getnext(scan));) {
    require_no_null(table, kMovedShards, row);
    is_found = moved_read(table, row, moved) && moved->layout == layout.spec;
  }
  systable_endscan(scan);
  return is_found;
}

Slot* slot_of(const core::Layout& layout, int64 shard) {
  const SlotKey key = slot_key_of(layout, shard);
  auto* slot = static_cast<Slot*>(dshash_find(slots.attached, &key, false));
  const bool is_new = slot == nullptr;
  // Without a partition's lock, because lock_shard() may wait for a transaction.
  if (is_new) {
    // Before the slot is created: a session that finds it sees this store.
    raise_time(&shared_database->longest_unit_us, layout.unit_us);
    Moved moved;
    const bool is_closed = lock_shard(layout, shard, &moved) && !moved.is_open;
    slot = make_slot(layout, key, is_closed);
  }
  hold(slot);
  dshash_release_lock(slots.attached, slot);
  if (is_new) unlock_shard(layout, shard);
  return slot;
}

void refuse_released(const core::Layout& layout, core::Shard shard, const Slot* slot) {
  const int64 number = static_cast<int64>(shard.value);
  Moved moved;
  const bool is_found = lock_shard(layout, number, &moved);
  // Closed without such a row: this transaction is to open it, or the extension was created again.
  const bool is_closed =
      (is_found && !moved.is_open) || (is_at_end(slot, layout) && !is_used_up(layout));
  unlock_shard(layout, number);
  if (!is_closed) return;
  note_refusal({layout, shard, true}, "It was released.");
  report_released(layout, shard, is_found ? &moved : nullptr);
}

void close_released() {
  if (!OidIsValid(extension_relation(kMovedShards.name))) return;
  Relation table = own_table_open(kMovedShards, AccessShareLock);
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
    Moved moved;
    if (!moved_read(table, row, &moved) || moved.is_open) continue;
    const core::Layout layout = core::make_layout(moved.layout);
    const SlotKey key = slot_key_of(layout, moved.shard);
    // A closed slot needs no lock, which might wait for a transaction that moves the shard.
    if (!is_slot_open(key, layout)) continue;
    Moved current;
    if (lock_shard(layout, moved.shard, &current) && !current.is_open) close_slot(key, layout);
    unlock_shard(layout, moved.shard);
  }
  systable_endscan(scan);
  table_close(table, NoLock);
}

}  // namespace snowid::pg
