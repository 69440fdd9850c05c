// The table of released shards. See released.hpp.
#include "pg/moves/released.hpp"

#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/base/locks.hpp"
#include "pg/compat.hpp"
#include "pg/moves/pending.hpp"
#include "pg/server/extension.hpp"
#include "pg/server/invalidation.hpp"
#include "pg/server/own_table.hpp"

namespace snowid::pg {

namespace {

constexpr char kTableName[] = "released_shards";

// The columns of snowid_internal.released_shards.
enum Column : AttrNumber {
  kShard = 1,
  kLayout,
  kId,
  kMovedTo,
  kReleasedAt,
  kColumns = kReleasedAt,
};
constexpr Oid kTypes[kColumns] = {INT8OID, InvalidOid, INT8OID, TEXTOID, TIMESTAMPTZOID};
constexpr OwnTable kReleasedShards = {.name = kTableName,
                                      .types = kTypes,
                                      .columns = kColumns,
                                      .own_type_length = sizeof(core::LayoutSpec),
                                      .nullable = kMovedTo,
                                      .key_columns = kLayout,
                                      .checks = 0,
                                      .trigger = "check_release"};

// A transaction may move thousands of shards, and the server has room for some thousand locks. So
// shards share them: moving one may keep other sessions from making the slot of another, mostly for
// a moment.
constexpr uint32 kLocks = 1024;

// The table, InvalidOid before this session has looked.
Oid table_relid = InvalidOid;

// The table that lock() has locked last, with an object of it.
Oid locked_table = InvalidOid;

void forget_table(Oid relid) {
  if (relid == table_relid || relid == InvalidOid) table_relid = InvalidOid;
}

Oid look_up_table() {
  static bool is_subscribed = false;
  if (!is_subscribed) {
    invalidation_subscribe(forget_table);
    is_subscribed = true;
  }
  if (!OidIsValid(table_relid)) table_relid = extension_relation(kTableName);
  return table_relid;
}

Relation open_table(LOCKMODE mode) {
  const Oid relid = look_up_table();
  Relation table = OidIsValid(relid) ? try_table_open(relid, mode) : nullptr;
  // What was looked up may have been dropped meanwhile, and made anew.
  if (table == nullptr) return own_table_open(kReleasedShards, mode);
  require_as_made(table, kReleasedShards, mode);
  return table;
}

// Which of the locks stands for a shard.
Oid lock_of(const core::Layout& layout, int64 shard) {
  const auto* spec = reinterpret_cast<const unsigned char*>(&layout.spec);
  const auto* number = reinterpret_cast<const unsigned char*>(&shard);
  const uint32 hash =
      hash_combine(hash_bytes(spec, sizeof(layout.spec)), hash_bytes(number, sizeof(shard)));
  return hash % kLocks;
}

// The functions of ClosedShards, see ids/closing.hpp.

bool lock_shard_and_find(const core::Layout& layout, int64 shard, Release* release) {
  AssertHoldsNone();
  Relation table = open_table(AccessShareLock);
  locked_table = RelationGetRelid(table);
  LockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  const bool is_released = released_find(table, layout, shard, release);
  table_close(table, NoLock);
  return is_released;
}

bool lock_shard(const core::Layout& layout, int64 shard) {
  Release release;
  return lock_shard_and_find(layout, shard, &release);
}

void unlock_shard(const core::Layout& layout, int64 shard) {
  UnlockDatabaseObject(locked_table, lock_of(layout, shard), 0, ShareLock);
  UnlockRelationOid(locked_table, AccessShareLock);
}

// release: nullptr where there is no row.
[[noreturn]] void report_released(const core::Layout& layout, core::Shard shard,
                                  const Release* release, bool is_accepted) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("shard " UINT64_FORMAT " of layout \"%s\" was released", shard.value,
              layout_text(layout.spec)),
       release == nullptr ? 0
       : release->moved_to == nullptr
           ? errdetail("It issues no IDs here since %s.", timestamptz_to_str(release->released_at))
           : errdetail("It issues no IDs here since %s. It has moved to: %s",
                       timestamptz_to_str(release->released_at), release->moved_to),
       is_accepted ? errhint("It issues IDs once the transaction that has called "
                             "snowid.accept_shard() commits.")
                   : errhint("Draw its IDs where it is now. When it comes back, call "
                             "snowid.accept_shard() here "
                             "with the ID that snowid.release_shard() has returned there.")));
  pg_unreachable();
}

void refuse_released(const core::Layout& layout, core::Shard shard, const Slot* slot) {
  const int64 number = static_cast<int64>(shard.value);
  Release release;
  const bool is_released = lock_shard_and_find(layout, number, &release);
  // A slot can be closed without a row: this transaction is to open it, or the extension was
  // dropped and made anew since it was closed.
  const bool is_closed = !is_released && IsAtEnd(slot, layout) && !IsUsedUp(layout);
  unlock_shard(layout, number);
  if (is_released || is_closed) note_refusal({layout, shard, slot}, "It was released.");
  if (is_released) report_released(layout, shard, &release, false);
  if (is_closed) report_released(layout, shard, nullptr, pending_opening_of(slot) != nullptr);
}

// The shards of all rows, as they are now.
struct Known {
  core::LayoutSpec spec;
  int64 shard;
};

List* all_known(Relation table) {
  List* all = NIL;
  TupleDesc columns = RelationGetDescr(table);
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
    bool nulls[2];
    const Datum spec = heap_getattr(row, kLayout, columns, &nulls[0]);
    const Datum shard = heap_getattr(row, kShard, columns, &nulls[1]);
    if (nulls[0] || nulls[1]) continue;  // which the table refuses, unless somebody has altered it
    auto* known = static_cast<Known*>(palloc(sizeof(Known)));
    *known = {*reinterpret_cast<core::LayoutSpec*>(DatumGetPointer(spec)), DatumGetInt64(shard)};
    all = lappend(all, known);
  }
  systable_endscan(scan);
  return all;
}

void close_released() {
  if (!OidIsValid(look_up_table())) return;
  Relation table = open_table(AccessShareLock);
  ListCell* cell;
  foreach (cell, all_known(table)) {
    const auto* known = static_cast<const Known*>(lfirst(cell));
    const core::Layout layout = core::MakeLayout(known->spec);
    // A slot that is closed already needs no lock, for which it would have to wait while another
    // transaction moves the shard.
    if (!is_slot_open(layout, known->shard)) continue;
    if (lock_shard(layout, known->shard)) close_slot(layout, known->shard);
    unlock_shard(layout, known->shard);
  }
  table_close(table, NoLock);
}

HeapTuple row_of(Relation table, Datum* values, const char* moved_to) {
  bool nulls[kColumns] = {};
  nulls[kMovedTo - 1] = moved_to == nullptr;
  if (moved_to != nullptr) values[kMovedTo - 1] = CStringGetTextDatum(moved_to);
  return own_row_form(table, kReleasedShards, values, nulls);
}

// Closes the shard of a row that is inserted by other than snowid.release_shard(), by a restore for
// one. Returns the row, with an ID above all that was issued here: that of an older dump may be
// below.
HeapTuple close_shard_of(Relation table, HeapTuple row) {
  bool nulls[3];
  const Datum shard = heap_getattr(row, kShard, RelationGetDescr(table), &nulls[0]);
  const Datum spec = heap_getattr(row, kLayout, RelationGetDescr(table), &nulls[1]);
  const Datum id = heap_getattr(row, kId, RelationGetDescr(table), &nulls[2]);
  if (nulls[0] || nulls[1] || nulls[2]) return row;  // which the table refuses
  const core::Layout layout =
      core::MakeLayout(*reinterpret_cast<core::LayoutSpec*>(DatumGetPointer(spec)));
  const core::Shard valid{DatumGetUInt64(shard)};
  require_id_of_shard(layout, DatumGetInt64(shard), DatumGetInt64(id));
  if (!ceiling_known) ceiling_learn();
  table_close(released_lock(layout, DatumGetInt64(shard)), NoLock);
  ceiling_hold();
  // Made where there is none: a session that makes it before this transaction has ended would not
  // see the row.
  Slot* slot = slot_of(layout, DatumGetInt64(shard));
  const core::Tick last = pending_close(slot, layout);
  LetGo(slot);
  if (last == EndOf(layout)) return row;  // there is none above
  const int64 free = IdOf(layout, valid, {last.value + 1}).value;
  if (free <= DatumGetInt64(id)) return row;
  int column = kId;
  Datum value = Int64GetDatum(free);
  bool is_null = false;
  return heap_modify_tuple_by_cols(row, RelationGetDescr(table), 1, &column, &value, &is_null);
}

}  // namespace

void released_register() {
  closed_shards = {lock_shard, unlock_shard, refuse_released, close_released};
}

void require_id_of_shard(const core::Layout& layout, int64 shard, int64 id) {
  require_shard(layout, shard);
  const core::Parts parts = parts_of(layout, id);
  if (parts.shard.value != static_cast<uint64>(shard))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("ID " INT64_FORMAT " is not of shard " INT64_FORMAT, id, shard)));
}

Relation released_lock(const core::Layout& layout, int64 shard) {
  AssertHoldsNone();
  Relation table = open_table(RowExclusiveLock);
  LockDatabaseObject(RelationGetRelid(table), lock_of(layout, shard), 0, ExclusiveLock);
  return table;
}

bool released_find(Relation table, const core::Layout& layout, int64 shard, Release* release) {
  bool is_found = false;
  ScanKeyData key;
  AssertHasLock(RelationGetRelid(table), AccessShareLock);
  const Oid index = own_key_of(table, kReleasedShards);
  TupleDesc columns = RelationGetDescr(table);
  ScanKeyInit(&key, kShard, BTEqualStrategyNumber, F_INT8EQ, Int64GetDatum(shard));
  // A snapshot of its own, since the caller's may be older than the row.
  SysScanDesc scan = systable_beginscan(table, index, OidIsValid(index), nullptr, 1, &key);
  HeapTuple row;
  while (!is_found && HeapTupleIsValid(row = systable_getnext(scan))) {
    bool is_null;
    const Datum spec = heap_getattr(row, kLayout, columns, &is_null);
    if (is_null || !(*reinterpret_cast<core::LayoutSpec*>(DatumGetPointer(spec)) == layout.spec))
      continue;
    require_no_null(table, kReleasedShards, row);
    const Datum moved_to = heap_getattr(row, kMovedTo, columns, &is_null);
    *release = {heap_copytuple(row), 0, is_null ? nullptr : TextDatumGetCString(moved_to), 0};
    release->id = DatumGetInt64(heap_getattr(row, kId, columns, &is_null));
    release->released_at = DatumGetTimestampTz(heap_getattr(row, kReleasedAt, columns, &is_null));
    is_found = true;
  }
  systable_endscan(scan);
  return is_found;
}

void released_insert(Relation table, const core::Layout& layout, int64 shard, int64 id,
                     const char* moved_to) {
  AssertHasLock(RelationGetRelid(table), RowExclusiveLock);
  AssertHasObjectLock(RelationGetRelid(table), lock_of(layout, shard), ExclusiveLock);
  core::LayoutSpec spec = layout.spec;
  Datum values[kColumns] = {Int64GetDatum(shard), PointerGetDatum(&spec), Int64GetDatum(id),
                            Datum{0}, TimestampTzGetDatum(GetCurrentTimestamp())};
  CatalogTupleInsert(table, row_of(table, values, moved_to));
  CommandCounterIncrement();
}

void released_update(Relation table, const Release& release, const char* moved_to) {
  AssertHasLock(RelationGetRelid(table), RowExclusiveLock);
  Datum value = CStringGetTextDatum(moved_to);
  bool is_null = false;
  int column = kMovedTo;
  HeapTuple row =
      heap_modify_tuple_by_cols(release.row, RelationGetDescr(table), 1, &column, &value, &is_null);
  CatalogTupleUpdate(table, &release.row->t_self, row);
  CommandCounterIncrement();
}

void released_delete(Relation table, const Release& release) {
  AssertHasLock(RelationGetRelid(table), RowExclusiveLock);
  CatalogTupleDelete(table, &release.row->t_self);
  CommandCounterIncrement();
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_check_release);

// The trigger on snowid_internal.released_shards. Rows that are inserted, as by a restore, close
// their shards; others are changed by functions alone, which change the slots with them. Rows that
// logical replication inserts, updates or deletes are about another server's shards, and are
// skipped.
Datum snowid_check_release(PG_FUNCTION_ARGS) {
  constexpr char kHint[] = "Use snowid.release_shard() and snowid.accept_shard().";
  const TriggerData* trigger = require_own_insertion(fcinfo, kReleasedShards.trigger, kHint);
  if (trigger == nullptr) PG_RETURN_DATUM(Datum{0});
  require_as_made(trigger->tg_relation, kReleasedShards, RowExclusiveLock);
  PG_RETURN_POINTER(close_shard_of(trigger->tg_relation, trigger->tg_trigtuple));
}
}
