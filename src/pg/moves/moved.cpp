// The table of shards that have moved. See moves.hpp.
#include "pg/moves/moves.hpp"

#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/base/locks.hpp"
#include "pg/compat.hpp"
#include "pg/moves/pending.hpp"
#include "pg/server/extension.hpp"
#include "pg/server/own_table.hpp"

namespace snowid::pg {

namespace {

// The columns of snowid_internal.moved_shards.
enum Column : AttrNumber { kShard = 1, kLayout, kId, kIsOpen, kMovedTo, kMovedAt };
constexpr int kColumns = kMovedAt;
constexpr Oid kTypes[kColumns] = {INT8OID, InvalidOid, INT8OID, BOOLOID, TEXTOID, TIMESTAMPTZOID};
constexpr OwnTable kMovedShards = {.name = "moved_shards",
                                   .types = kTypes,
                                   .columns = kColumns,
                                   .own_type_length = sizeof(core::LayoutSpec),
                                   .nullable = kMovedTo};

// The shard whose row moved_store() is storing, nullptr at other times.
const SlotKey* stored_shard = nullptr;

// The table that lock_shard_and_find() has locked last, with an object of it.
Oid locked_table = InvalidOid;

// Which object of the table is locked for a shard. A transaction may move thousands of shards, and
// the server has room for some thousand locks. So shards share them.
Oid lock_of(const core::Layout& layout, int64 shard) {
  const SlotKey key = SlotKeyOf(layout, shard);
  return hash_bytes(reinterpret_cast<const unsigned char*>(&key), kSlotKeySize) % 1024;
}

core::LayoutSpec SpecOf(Datum value) {
  return *reinterpret_cast<const core::LayoutSpec*>(DatumGetPointer(value));
}

// The columns of a row; those that were added, and dropped again, are left out.
void read_columns(Relation table, HeapTuple row, Datum* values, bool* nulls) {
  for (int i = 0; i < kColumns; i++)
    values[i] = heap_getattr(row, i + 1, RelationGetDescr(table), &nulls[i]);
}

// The same as a row of this server's. Raises 55000 for a null that the script does not allow.
Moved read_row(Relation table, HeapTuple row, Datum* values) {
  bool nulls[kColumns];
  require_no_null(table, kMovedShards, row);
  read_columns(table, row, values, nulls);
  return {row->t_self, DatumGetInt64(values[kId - 1]), DatumGetBool(values[kIsOpen - 1]),
          nulls[kMovedTo - 1] ? nullptr : TextDatumGetCString(values[kMovedTo - 1]),
          DatumGetTimestampTz(values[kMovedAt - 1])};
}

// The functions of ClosedShards, see ids/closing.hpp.

bool lock_shard_and_find(const core::Layout& layout, int64 shard, Moved* moved) {
  AssertHoldsNone();
  Relation table = own_table_open(kMovedShards, AccessShareLock);
  locked_table = RelationGetRelid(table);
  LockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  const bool is_found = moved_find(table, layout, shard, moved);
  table_close(table, NoLock);
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
  pg_unreachable();
}

void refuse_released(const core::Layout& layout, core::Shard shard, const Slot* slot) {
  const int64 number = static_cast<int64>(shard.value);
  Moved moved;
  const bool is_found = lock_shard_and_find(layout, number, &moved);
  // A slot can be closed without a row that says so: this transaction is to open it, or the
  // extension was dropped and made anew since it was closed.
  const bool is_closed =
      (is_found && !moved.is_open) || (IsAtEnd(slot, layout) && !IsUsedUp(layout));
  unlock_shard(layout, number);
  if (!is_closed) return;
  note_refusal({layout, shard, slot}, "It was released.");
  report_released(layout, shard, is_found ? &moved : nullptr);
}

void close_released() {
  if (!OidIsValid(extension_relation(kMovedShards.name))) return;
  Relation table = own_table_open(kMovedShards, AccessShareLock);
  List* keys = NIL;
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
    Datum values[kColumns];
    bool nulls[kColumns];
    read_columns(table, row, values, nulls);
    // Nulls are refused by the table, unless it was altered.
    if (nulls[kShard - 1] || nulls[kLayout - 1] || nulls[kIsOpen - 1]) continue;
    if (DatumGetBool(values[kIsOpen - 1])) continue;
    auto* key = static_cast<SlotKey*>(palloc(sizeof(SlotKey)));
    *key = {SpecOf(values[kLayout - 1]), DatumGetUInt64(values[kShard - 1]), MyDatabaseId};
    keys = lappend(keys, key);
  }
  systable_endscan(scan);
  ListCell* cell;
  foreach (cell, keys) {
    const auto* key = static_cast<const SlotKey*>(lfirst(cell));
    const core::Layout layout = core::MakeLayout(key->layout);
    // A slot that is closed already needs no lock, for which it would have to wait while another
    // transaction moves the shard.
    if (!is_slot_open(*key, layout)) continue;
    if (lock_shard(layout, static_cast<int64>(key->shard))) close_slot(*key, layout);
    unlock_shard(layout, static_cast<int64>(key->shard));
  }
  table_close(table, NoLock);
}

// Whether a row is the one that moved_store() is storing. What a superuser's trigger on that
// changes is not.
bool is_of_move(const TriggerData* trigger) {
  if (stored_shard == nullptr || TRIGGER_FIRED_BY_DELETE(trigger->tg_event)) return false;
  bool nulls[kColumns];
  Datum values[kColumns];
  read_columns(trigger->tg_relation, row_of(trigger), values, nulls);
  return !nulls[kShard - 1] && DatumGetUInt64(values[kShard - 1]) == stored_shard->shard &&
         !nulls[kLayout - 1] && SpecOf(values[kLayout - 1]) == stored_shard->layout;
}

// Closes the shard of a row that is inserted by other than snowid.release_shard(), by a restore for
// one. Returns the row, with an ID above all that was issued here: that of an older dump may be
// below.
HeapTuple close_shard_of(Relation table, HeapTuple row) {
  bool nulls[kColumns];
  Datum values[kColumns];
  read_columns(table, row, values, nulls);
  if (nulls[kShard - 1] || nulls[kLayout - 1] || nulls[kId - 1] || nulls[kIsOpen - 1])
    return row;  // which the table refuses
  const core::Layout layout = core::MakeLayout(SpecOf(values[kLayout - 1]));
  const int64 shard = DatumGetInt64(values[kShard - 1]);
  const core::Tick restored = tick_of_shard(layout, shard, DatumGetInt64(values[kId - 1]));
  if (DatumGetBool(values[kIsOpen - 1])) return row;
  if (!ceiling_known) ceiling_learn();
  table_close(moved_lock(layout, shard), NoLock);
  ceiling_hold();
  // Made if there is none: a session that makes it before this transaction has ended would not see
  // the row.
  Slot* slot = slot_of(layout, shard);
  const core::Tick free = pending_close(slot, layout);
  LetGo(slot);
  if (free <= restored) return row;
  int column = kId;
  Datum value = Int64GetDatum(IdOf(layout, {static_cast<uint64>(shard)}, free).value);
  bool is_null = false;
  return heap_modify_tuple_by_cols(row, RelationGetDescr(table), 1, &column, &value, &is_null);
}

}  // namespace

void moves_register() {
  closed_shards = {lock_shard, unlock_shard, refuse_released, close_released};
}

Relation moved_lock(const core::Layout& layout, int64 shard) {
  AssertHoldsNone();
  Relation table = own_table_open(kMovedShards, RowExclusiveLock);
  LockDatabaseObject(RelationGetRelid(table), lock_of(layout, shard), 0, ExclusiveLock);
  return table;
}

bool moved_find(Relation table, const core::Layout& layout, int64 shard, Moved* moved) {
  bool is_found = false;
  ScanKeyData key;
  AssertHasLock(RelationGetRelid(table), AccessShareLock);
  const Oid index = own_key_of(table);
  ScanKeyInit(&key, kShard, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(shard));
  // A snapshot of its own, since the caller's may be older than the row.
  SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
  for (HeapTuple row; !is_found && HeapTupleIsValid(row = systable_getnext(scan));) {
    Datum values[kColumns];
    *moved = read_row(table, row, values);
    is_found = SpecOf(values[kLayout - 1]) == layout.spec;
  }
  systable_endscan(scan);
  return is_found;
}

void moved_store(Relation table, const core::Layout& layout, int64 shard, const Moved* old,
                 const Moved& moved) {
  AssertHasLock(RelationGetRelid(table), RowExclusiveLock);
  AssertHasObjectLock(RelationGetRelid(table), lock_of(layout, shard), ExclusiveLock);
  core::LayoutSpec spec = layout.spec;
  ItemPointerData place = old == nullptr ? ItemPointerData{} : old->place;
  Oid types[] = {INT8OID, InvalidOid, INT8OID, BOOLOID, TEXTOID, TIMESTAMPTZOID, TIDOID};
  types[kLayout - 1] = TupleDescAttr(RelationGetDescr(table), kLayout - 1)->atttypid;
  const Datum to = moved.moved_to == nullptr ? Datum{0} : CStringGetTextDatum(moved.moved_to);
  Datum values[] = {Int64GetDatum(shard),
                    PointerGetDatum(&spec),
                    Int64GetDatum(moved.id),
                    BoolGetDatum(moved.is_open),
                    to,
                    TimestampTzGetDatum(moved.moved_at),
                    PointerGetDatum(&place)};
  const char* nulls = moved.moved_to == nullptr ? "    n  " : nullptr;
  const char* statement =
      old == nullptr
          ? "INSERT INTO snowid_internal.moved_shards"
            " (shard, layout, id, is_open, moved_to, moved_at) VALUES ($1, $2, $3, $4, $5, $6)"
          : "UPDATE ONLY snowid_internal.moved_shards"
            " SET id = $3, is_open = $4, moved_to = $5, moved_at = $6 WHERE ctid = $7";
  const SlotKey key = SlotKeyOf(layout, shard);
  const SlotKey* outer = stored_shard;
  uint64 count = 0;
  stored_shard = &key;
  PG_TRY();
  {
    count = own_table_execute(kMovedShards.name, statement, lengthof(types), types, values, nulls);
  }
  PG_FINALLY();
  { stored_shard = outer; }
  PG_END_TRY();
  // The row must say what the slots do, or the shard would be open here after a restart.
  Moved stored;
  if (count != 1 || !moved_find(table, layout, shard, &stored) || stored.id != moved.id ||
      stored.is_open != moved.is_open)
    report_not_stored(kMovedShards.name);
}

core::Tick tick_of_shard(const core::Layout& layout, int64 shard, int64 id) {
  require_shard(layout, shard);
  const core::Parts parts = parts_of(layout, id);
  if (parts.shard.value != static_cast<uint64>(shard))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("ID " INT64_FORMAT " is not of shard " INT64_FORMAT, id, shard)));
  return MakeTick(layout, parts.time, parts.sequence);
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_check_move);

// The trigger on snowid_internal.moved_shards. Rows that are inserted, as by a restore, close their
// shards, or leave them open; others are changed by functions alone, which change the slots with
// them. Rows that logical replication inserts, updates or deletes are about another server's
// shards, and are skipped.
Datum snowid_check_move(PG_FUNCTION_ARGS) {
  constexpr char kHint[] = "Use snowid.release_shard() and snowid.accept_shard().";
  const TriggerData* trigger = require_own_trigger(fcinfo, "check_move", kHint);
  // One of its own triggers may move a shard.
  if (IsLogicalWorker() && stored_shard == nullptr) PG_RETURN_DATUM(Datum{0});
  require_as_made(trigger->tg_relation, kMovedShards);
  if (is_of_move(trigger)) PG_RETURN_POINTER(row_of(trigger));
  if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot update or delete rows of table \"%s.%s\"", kInternalSchemaName,
                           kMovedShards.name),
                    errhint("%s", kHint)));
  PG_RETURN_POINTER(close_shard_of(trigger->tg_relation, trigger->tg_trigtuple));
}
}
