#include "pg/ids/moved_shards.hpp"

#include "pg/catalog_table.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"
#include "pg/errors.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/types/layout.hpp"

namespace snowid::pg {

namespace {

// The table that lock_shard_and_find() has locked last, with an object of it.
Oid locked_table = InvalidOid;

bool lock_shard_and_find(const core::Layout& layout, int64 shard, Moved* moved) {
  assert_holds_none();
  Relation table = own_table_open(kMovedShards, AccessShareLock);
  locked_table = RelationGetRelid(table);
  LockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  const bool is_found = moved_find(table, layout, shard, moved);
  table_close(table, NoLock);
  return is_found;
}

// row: nullptr if there is none.
[[noreturn]] void report_released(const core::Layout& layout, core::Shard shard, const Moved* row) {
  const bool is_accepted = row != nullptr && row->is_open;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("shard " UINT64_FORMAT " of layout \"%s\" was released", shard.value,
                  layout_text(layout.spec)),
           row == nullptr || is_accepted ? 0
           : row->moved_to == nullptr
               ? errdetail("It issues no IDs on this server since %s.",
                           timestamptz_to_str(row->moved_at))
               : errdetail("It issues no IDs on this server since %s. It has moved to: %s",
                           timestamptz_to_str(row->moved_at), row->moved_to),
           is_accepted
               ? errhint("It issues IDs once the transaction that has called snowid.accept_shard() "
                         "commits.")
               : errhint("Generate its IDs on the server that has accepted it. When it comes back, "
                         "call snowid.accept_shard() with the ID that snowid.release_shard() has "
                         "returned on that server.")));
}

// Finds the slot or makes it. Returns it with its partition locked.
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

}  // namespace

Slot* slot_of(const core::Layout& layout, int64 shard) {
  const SlotKey key = slot_key_of(layout, shard);
  auto* slot = static_cast<Slot*>(table_find(slots, &key, false));
  const bool is_new = slot == nullptr;
  // Done without a lock on a partition, since lock_shard() may wait for a transaction.
  if (is_new) {
    // Before the slot is made: a session that finds the slot, with its partition locked, sees this
    // store, too.
    raise_time(&shared_database->longest_unit_us, layout.unit_us);
    slot = make_slot(layout, key, lock_shard(layout, shard));
  }
  hold(slot);
  table_release(slots, slot);
  if (is_new) unlock_shard(layout, shard);
  return slot;
}

bool moved_read(Relation table, HeapTuple row, Moved* moved) {
  using Column = MovedColumn;
  // By number: columns may have been added, and dropped again.
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

// A transaction may move thousands of shards, and the server has room for some thousand locks. So
// shards share them.
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
  assert_has_lock(RelationGetRelid(table), AccessShareLock);
  const Oid index = own_key_of(table);
  ScanKeyInit(&key, MovedColumn::kShard, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(shard));
  // A snapshot of its own, since the caller's may be older than the row.
  SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
  for (HeapTuple row; !is_found && HeapTupleIsValid(row = systable_getnext(scan));) {
    require_no_null(table, kMovedShards, row);
    is_found = moved_read(table, row, moved) && moved->layout == layout.spec;
  }
  systable_endscan(scan);
  return is_found;
}

bool lock_shard(const core::Layout& layout, int64 shard) {
  Moved moved;
  return lock_shard_and_find(layout, shard, &moved) && !moved.is_open;
}

void unlock_shard(const core::Layout& layout, int64 shard) {
  UnlockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  UnlockRelationOid(locked_table, AccessShareLock);
}

void refuse_released(const core::Layout& layout, core::Shard shard, const Slot* slot) {
  const int64 number = static_cast<int64>(shard.value);
  Moved moved;
  const bool is_found = lock_shard_and_find(layout, number, &moved);
  // A slot can be closed without a row that says so: this transaction is to open it, or the
  // extension was dropped and made anew since it was closed.
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
  List* keys = NIL;
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
    Moved moved;
    if (!moved_read(table, row, &moved) || moved.is_open) continue;
    auto* key = static_cast<SlotKey*>(palloc(sizeof(SlotKey)));
    *key = {moved.layout, static_cast<uint64>(moved.shard), MyDatabaseId};
    keys = lappend(keys, key);
  }
  systable_endscan(scan);
  ListCell* cell;
  foreach (cell, keys) {
    const auto* key = static_cast<const SlotKey*>(lfirst(cell));
    const core::Layout layout = core::make_layout(key->layout);
    // A slot that is closed already needs no lock, for which it would have to wait while another
    // transaction moves the shard.
    if (!is_slot_open(*key, layout)) continue;
    if (lock_shard(layout, static_cast<int64>(key->shard))) close_slot(*key, layout);
    unlock_shard(layout, static_cast<int64>(key->shard));
  }
  table_close(table, NoLock);
}

}  // namespace snowid::pg
