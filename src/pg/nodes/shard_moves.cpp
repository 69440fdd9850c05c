// Moving shards to another server. An ID opens a shard only if it is above all IDs of the shard
// issued, released or accepted by this server. Of two servers that pass a shard back and forth at
// most one has it open, even if IDs arrive twice, late, or out of order.
//
// In the order of use: snowid_release_shard() closes the slot (pending_close()) and stores the row
// (moved_store()). snowid_accept_shard() compares the ID (require_above()), has the commit open the
// slot (pending_open()), and stores the row. module.cpp calls at_eoxact_moves(), which completes or
// undoes what is pending. Rows of other origin, as a restore, pass the trigger function
// snowid_check_move(). Last, snowid_advance_…(), which continue above an ID or a time.
//
// Shared: the table of moved shards and their slots, under moved_lock(); the ceiling, locked after
// the table (docs/design.md, "The SQL interface"). Waits for the clock come before the locks.
#include "pg/nodes/nodes.hpp"

#include "core/layout.hpp"
#include "core/skipped_times.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"
#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/shards.hpp"
#include "pg/types/layout.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
}

namespace snowid::pg {

namespace {

// Raises: 22023 if the ID is of another shard.
core::Tick tick_of_shard(const core::Layout& layout, int64 shard, int64 id) {
  require_shard(layout, shard);
  const core::Parts parts = parts_of(layout, id);
  if (parts.shard.value != static_cast<uint64>(shard))
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("ID " INT64_FORMAT " is not of shard " INT64_FORMAT, id, shard));
  return make_tick(layout, parts.time, parts.sequence);
}

// A transaction's change of a slot. The callbacks undo or complete it.
struct Move {
  Move* older;
  Slot* slot;
  core::Tick last;  // the slot opens above it, if a release is rolled back or an accept commits
  SubTransactionId part;
  bool is_release;
};

// Newest first, those of a subtransaction before its parents'. In the memory of the transaction.
Move* moves = nullptr;

void end_newest(bool is_commit) {
  Move* move = moves;
  moves = move->older;
  if (move->is_release != is_commit)
    open_slot(move->slot, core::make_layout(move->slot->key.layout), move->last);
  let_go(move->slot);
}

// Makes a move for push(), after which nothing can fail. The commit must be durable, because
// another server may use the shard as soon as the client has the answer.
Move* make_move(Slot* slot, bool is_release) {
  for (const Move* move = moves; move != nullptr; move = move->older)
    if (move->slot == slot)
      ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
              errmsg("shard " UINT64_FORMAT " was moved in this transaction", slot->key.shard),
              errhint("Commit it, and move the shard in another one."));
  require_durable_commit();
  auto* move = static_cast<Move*>(MemoryContextAlloc(TopTransactionContext, sizeof(Move)));
  *move = {moves, slot, {0}, GetCurrentSubTransactionId(), is_release};
  return move;
}

// Counts this session as a user of the slot, because its exit releases cached pointers first.
void push(Move* move, core::Tick last) noexcept {
  move->last = last;
  hold(move->slot);
  moves = move;
}

// Closes a slot at once, for all sessions, until a rollback. Returns a tick above all issued ones,
// at or above the clock's, not issued after a rollback either; for a closed slot, a tick above the
// ceiling; end_of(layout) if exhausted. Raises: 55000 if this transaction has moved the shard.
core::Tick pending_close(Slot* slot, const core::Layout& layout) {
  Move* move = make_move(slot, true);
  const core::UnixMicros now = unix_now();
  core::Tick last = close_tick(slot->last_tick, layout);
  if (last == end_of(layout))
    return is_used_up(layout) ? last : core::Tick{last_tick_by_ceiling(layout).value + 1};
  last = std::max(last, std::min(last_tick_before(layout, now), {end_of(layout).value - 1}));
  push(move, {last.value + 1});
  return {last.value + 1};
}

// Has the commit open a slot above `last`. Raises: 55000 if this transaction has moved the shard.
void pending_open(Slot* slot, core::Tick last) { push(make_move(slot, false), last); }

// Whether the trigger's next row is moved_store()'s. The trigger resets it, because a superuser's
// trigger may change other rows.
bool is_row_of_move = false;

// Closes the shard of a row not inserted by snowid.release_shard(), as of a restore. Returns the
// row, with an ID above all issued by this server: an older dump's may be lower.
HeapTuple close_shard_of(Relation table, HeapTuple row) {
  Moved moved;
  if (!moved_read(table, row, &moved) || heap_attisnull(row, MovedColumn::kId, nullptr))
    return row;  // rejected by the table's constraints
  const core::Layout layout = core::make_layout(moved.layout);
  const int64 shard = moved.shard;
  const core::Tick restored = tick_of_shard(layout, shard, moved.id);
  if (moved.is_open) return row;
  require_ceiling();
  table_close(moved_lock(layout, shard), NoLock);
  ceiling_hold();
  // Made if missing, because a session that makes it before the commit would not see the row.
  Slot* slot = slot_of(layout, shard);
  const core::Tick free = pending_close(slot, layout);
  let_go(slot);
  if (free <= restored) return row;
  int column = MovedColumn::kId;
  Datum value = Int64GetDatum(id_of(layout, {static_cast<uint64>(shard)}, free).value);
  bool is_null = false;
  return heap_modify_tuple_by_cols(row, RelationGetDescr(table), 1, &column, &value, &is_null);
}

// Stores a shard's row, in the place of `old` unless nullptr. Requires: the table is
// moved_lock()'s. Raises: 55000 if a superuser's trigger has stored another row, or none.
void moved_store(Relation table, const core::Layout& layout, const Moved* old, Moved moved) {
  Assert(CheckRelationLockedByMe(table, RowExclusiveLock, true));
  assert_has_object_lock(RelationGetRelid(table), lock_of(layout, moved.shard), ExclusiveLock);
  ItemPointerData place = old == nullptr ? ItemPointerData{} : old->place;
  Oid types[] = {INT8OID, InvalidOid, INT8OID, BOOLOID, TEXTOID, TIMESTAMPTZOID, TIDOID};
  types[MovedColumn::kLayout - 1] =
      TupleDescAttr(RelationGetDescr(table), MovedColumn::kLayout - 1)->atttypid;
  const Datum to = moved.moved_to == nullptr ? Datum{0} : CStringGetTextDatum(moved.moved_to);
  Datum values[] = {Int64GetDatum(moved.shard),
                    PointerGetDatum(&moved.layout),
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
  is_row_of_move = true;
  const uint64 count =
      own_table_execute(kMovedShards.name, statement, lengthof(types), types, values, nulls);
  is_row_of_move = false;
  // The row must match the slots, or the shard would be open on this server after a restart.
  Moved stored;
  if (count != 1 || !moved_find(table, layout, moved.shard, &stored) || stored.id != moved.id ||
      stored.is_open != moved.is_open)
    report_not_stored(kMovedShards.name);
}

// Whether an ID is useless: the tick before it is skipped (core/skipped_times.hpp).
bool is_skipped(const core::Layout& layout, core::Tick free) {
  const core::Tick last{std::max<uint64_t>(free.value, 1) - 1};
  return is_skipped_unit(skipped_times(), layout, start_of(layout, time_of(layout, last)));
}

// Raises: 55000 if an ID is not above those of this server. row: nullptr if there is none.
void require_above(const core::Layout& layout, int64 shard, int64 id, core::Tick tick,
                   const Moved* row, const Slot* slot) {
  core::Tick known = row == nullptr ? core::Tick{0} : tick_of_shard(layout, shard, row->id);
  // A slot not above its start has issued no ID known now.
  const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
  if (!is_at_end(slot, layout) && last > my_start_tick(layout)) known = std::max(known, last);
  if (tick > known || (row == nullptr && known.value == 0)) return;
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg("ID " INT64_FORMAT " is not above ID " INT64_FORMAT, id,
             id_of(layout, {static_cast<uint64>(shard)}, known).value),
      row == nullptr || row->is_open
          ? errdetail("Shard " INT64_FORMAT " is open on this server, up to the latter ID.", shard)
          : errdetail("This server has released shard " INT64_FORMAT " with the latter ID.", shard),
      errhint("Pass the ID returned by snowid.release_shard() on the server where the shard was "
              "open last. If no other server has accepted it since this one released it, pass a "
              "new ID: snowid_encode(clock_timestamp(), " INT64_FORMAT ", 0, '%s').",
              shard, layout_text(layout.spec)));
}

// Has the slot issue only ticks above `last`. Raises: 55000 if it is closed.
void raise_slot(const core::Layout& layout, core::Shard shard, Slot* slot, core::Tick last) {
  uint64_t seen = slot->last_tick.load(std::memory_order_acquire);
  // A closed slot, at the layout's last tick, must not pass for one above `last`.
  for (;;) {
    if (seen == end_of(layout).value) {
      refuse_released(layout, shard, slot);
      if (is_at_end(slot, layout) && is_used_up(layout)) return;
      seen = slot->last_tick.load(std::memory_order_acquire);
    } else if (seen >= last.value ||
               slot->last_tick.compare_exchange_weak(seen, last.value, std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace

void at_eoxact_moves(XactEvent event) {
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT) return;
  is_row_of_move = false;
  while (moves != nullptr) end_newest(event == XACT_EVENT_COMMIT);
}

void at_eosubxact_moves(SubXactEvent event, SubTransactionId part, SubTransactionId parent) {
  if (event == SUBXACT_EVENT_ABORT_SUB) {
    is_row_of_move = false;
    while (moves != nullptr && moves->part == part) end_newest(false);
  }
  if (event == SUBXACT_EVENT_COMMIT_SUB)
    for (Move* move = moves; move != nullptr && move->part == part; move = move->older)
      move->part = parent;
}

// The trigger on snowid_internal.moved_shards. Inserted rows, as of a restore, close their shards
// or leave them open; functions make all other changes, together with the slots. Rows of logical
// replication are about another server's shards, and skipped.
SNOWID_FUNCTION(snowid_check_move) {
  constexpr char kHint[] = "Use snowid.release_shard() and snowid.accept_shard().";
  const TriggerData* trigger = require_own_trigger(fcinfo, kHint);
  // A trigger of the replication worker may itself move a shard.
  const bool is_of_move = is_row_of_move;
  is_row_of_move = false;
  if (IsLogicalWorker() && !is_of_move) PG_RETURN_DATUM(Datum{0});
  require_as_made(trigger->tg_relation, kMovedShards);
  if (is_of_move) PG_RETURN_POINTER(row_of(trigger));
  if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot update or delete rows of table \"%s.%s\"", kInternalSchemaName,
                   kMovedShards.name),
            errhint("%s", kHint));
  PG_RETURN_POINTER(close_shard_of(trigger->tg_relation, trigger->tg_trigtuple));
}

SNOWID_FUNCTION(snowid_release_shard) {
  require_nextval("snowid.release_shard()");
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  const int64 shard = PG_GETARG_INT64(0);
  const char* moved_to = PG_ARGISNULL(2) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(2));
  LayoutCache* cache = layout_cache_of(layout_spec_arg(fcinfo, 1));
  const core::Layout& layout = cache->layout;
  Slot* slot = cached_shard(cache, shard)->slot;
  Relation table = moved_lock(layout, shard);
  ceiling_hold();
  Moved row;
  const bool is_known = moved_find(table, layout, shard, &row);
  const core::Tick known = is_known ? tick_of_shard(layout, shard, row.id) : core::Tick{0};
  Moved released{{},    shard,    layout.spec,          is_known ? row.id : 0,
                 false, moved_to, GetCurrentTimestamp()};
  if (is_known && !row.is_open && is_at_end(slot, layout) && !is_skipped(layout, known)) {
    if (moved_to == nullptr) released.moved_to = row.moved_to;
    released.moved_at = row.moved_at;
  } else {
    core::Tick free = pending_close(slot, layout);
    if (free == end_of(layout) && is_used_up(layout)) report_used_up(layout);
    if (is_known && row.is_open) free = std::max(free, {known.value + 1});
    released.id = id_of(layout, {static_cast<uint64>(shard)}, free).value;
  }
  moved_store(table, layout, is_known ? &row : nullptr, released);
  table_close(table, NoLock);
  PG_RETURN_INT64(released.id);
}

SNOWID_FUNCTION(snowid_accept_shard) {
  require_nextval("snowid.accept_shard()");
  const int64 shard = PG_GETARG_INT64(0);
  const int64 id = PG_GETARG_INT64(1);
  LayoutCache* cache = layout_cache_of(layout_spec_arg(fcinfo, 2));
  const core::Layout& layout = cache->layout;
  const core::Tick tick = tick_of_shard(layout, shard, id);
  const core::UnixMicros moment = start_of(layout, time_of(layout, tick));
  wait_until_allowed("ID", moment);

  Slot* slot = cached_shard(cache, shard)->slot;
  Relation table = moved_lock(layout, shard);
  ceiling_hold();
  Moved row;
  const bool is_known = moved_find(table, layout, shard, &row);
  if (!is_known || !row.is_open || row.id != id) {
    require_above(layout, shard, id, tick, is_known ? &row : nullptr, slot);
    ceiling_cover(moment);
    // Of a closed slot without a row only the ceiling is known.
    const bool is_unknown = !is_known && is_at_end(slot, layout);
    pending_open(slot, is_unknown ? std::max(tick, last_tick_by_ceiling(layout)) : tick);
    moved_store(table, layout, is_known ? &row : nullptr,
                {{}, shard, layout.spec, id, true, nullptr, GetCurrentTimestamp()});
  }
  table_close(table, NoLock);
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_advance_shard) {
  require_read_write("snowid.advance_shard()");
  LayoutCache* cache = layout_cache_of(layout_spec_arg(fcinfo, 1));
  const core::Layout& layout = cache->layout;
  const core::Parts parts = parts_of(layout, PG_GETARG_INT64(0));

  // The ceiling is shared: an ID far ahead would stop all shards of the database at the next start.
  const core::UnixMicros moment = start_of(layout, parts.time);
  require_ceiling();
  const int64 ahead_us = moment.value - lead_from_now(unix_now()).value;
  if (ahead_us > max_lead_us()) report_ahead("ID", ahead_us, 0);

  const CachedShard* cached = cached_shard(cache, static_cast<int64>(parts.shard.value));
  ceiling_cover(moment);
  raise_slot(layout, parts.shard, cached->slot, make_tick(layout, parts.time, parts.sequence));
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_advance_past_id) {
  require_nextval("snowid.advance_past()");
  const core::Layout& layout = layout_arg(fcinfo, 1);
  const core::UnixMicros moment = start_of(layout, parts_of(layout, PG_GETARG_INT64(0)).time);
  wait_until_allowed("ID", moment);
  ceiling_lift(moment);
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_advance_past_moment) {
  require_nextval("snowid.advance_past()");
  const TimestampTz argument = PG_GETARG_TIMESTAMPTZ(0);
  if (TIMESTAMP_IS_NOEND(argument))
    ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
            errmsg("cannot advance all shards to infinity"));
  const core::UnixMicros moment = from_timestamptz(argument);
  // No ID is earlier.
  if (moment.value < 0) PG_RETURN_VOID();
  wait_until_allowed("moment", moment);
  ceiling_lift(moment);
  PG_RETURN_VOID();
}

}  // namespace snowid::pg
