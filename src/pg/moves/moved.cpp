// Storing which shards have moved. See moves.hpp.
#include "pg/base/errors.hpp"
#include "pg/base/layout_type.hpp"
#include "pg/base/locks.hpp"
#include "pg/compat.hpp"
#include "pg/moves/moves.hpp"
#include "pg/moves/pending.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// The shard whose row moved_store() is storing, nullptr at other times.
const SlotKey* stored_shard = nullptr;

// Whether a row is the one that moved_store() is storing. What a superuser's trigger on that
// changes is not.
bool is_of_move(const TriggerData* trigger) {
  if (stored_shard == nullptr || TRIGGER_FIRED_BY_DELETE(trigger->tg_event)) return false;
  bool nulls[kMovedColumns];
  Datum values[kMovedColumns];
  read_columns(trigger->tg_relation, row_of(trigger), values, nulls);
  return !nulls[kShard - 1] && DatumGetUInt64(values[kShard - 1]) == stored_shard->shard &&
         !nulls[kLayout - 1] && spec_of(values[kLayout - 1]) == stored_shard->layout;
}

// Closes the shard of a row that is inserted by other than snowid.release_shard(), by a restore for
// one. Returns the row, with an ID above all that was issued here: that of an older dump may be
// below.
HeapTuple close_shard_of(Relation table, HeapTuple row) {
  bool nulls[kMovedColumns];
  Datum values[kMovedColumns];
  read_columns(table, row, values, nulls);
  if (nulls[kShard - 1] || nulls[kLayout - 1] || nulls[kId - 1] || nulls[kIsOpen - 1])
    return row;  // which the table refuses
  const core::Layout layout = core::make_layout(spec_of(values[kLayout - 1]));
  const int64 shard = DatumGetInt64(values[kShard - 1]);
  const core::Tick restored = tick_of_shard(layout, shard, DatumGetInt64(values[kId - 1]));
  if (DatumGetBool(values[kIsOpen - 1])) return row;
  require_ceiling();
  table_close(moved_lock(layout, shard), NoLock);
  ceiling_hold();
  // Made if there is none: a session that makes it before this transaction has ended would not see
  // the row.
  Slot* slot = slot_of(layout, shard);
  const core::Tick free = pending_close(slot, layout);
  let_go(slot);
  if (free <= restored) return row;
  int column = kId;
  Datum value = Int64GetDatum(id_of(layout, {static_cast<uint64>(shard)}, free).value);
  bool is_null = false;
  return heap_modify_tuple_by_cols(row, RelationGetDescr(table), 1, &column, &value, &is_null);
}

}  // namespace

void moved_store(Relation table, const core::Layout& layout, int64 shard, const Moved* old,
                 const Moved& moved) {
  assert_has_lock(RelationGetRelid(table), RowExclusiveLock);
  assert_has_object_lock(RelationGetRelid(table), lock_of(layout, shard), ExclusiveLock);
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
  const SlotKey key = slot_key_of(layout, shard);
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
  return make_tick(layout, parts.time, parts.sequence);
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
