// snowid_adopt(): a column that something else has numbered draws IDs from now on. All of it is
// done as the caller, by ALTER TABLE, in one transaction, and the table is locked for some catalog
// changes alone: nothing is written anew, and no table is read but by an index.
//
// Shared: the tick of the shard that the column draws from, which is moved above the keys.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/adopt_checks.hpp"
#include "pg/nodes/adopt_default.hpp"
#include "pg/nodes/adopt_greatest.hpp"
#include "pg/nodes/adopt_sequences.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// What snowid_adopt() is asked for.
struct Request {
  Oid relid;
  const char* column;
  NextCall call;
};

// Fails with 22023 where the layout has no such shard, or its IDs are not in the order of their
// times: in such a layout nothing says that those to come are above those that are there.
void require_usable(const NextCall& call) {
  const core::Layout& layout = layout_of(call.layout);
  if (call.has_shard) require_shard(layout, call.shard);
  if (!layout.time_is_first)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("IDs of layout \"%s\" are not in the order of their times",
                           layout_text(layout.spec)),
                    errdetail("The time is not its first field, so IDs to come can be the keys "
                              "that are there.")));
}

// The table and all that inherits from it, locked; each is the caller's own.
List* lock_tables(const Request& request, LOCKMODE mode) {
  require_own_table(request.relid);
  LockRelationOid(request.relid, mode);
  require_own_table(request.relid);
  require_wide_column(request.relid, request.column, mode != AccessExclusiveLock);
  List* tables = find_all_inheritors(request.relid, mode, nullptr);
  for (int i = 0; i < list_length(tables); i++) require_own_table(list_nth_oid(tables, i));
  return tables;
}

void unlock_tables(const List* tables, LOCKMODE mode) {
  for (int i = 0; i < list_length(tables); i++) UnlockRelationOid(list_nth_oid(tables, i), mode);
}

// Whether the column of all these tables draws what is asked for.
bool all_draw(const List* tables, const Request& request) {
  for (int i = 0; i < list_length(tables); i++) {
    if (!column_draws(list_nth_oid(tables, i), request.column, request.call)) return false;
  }
  return true;
}

// The greatest key of all these tables. False where there is none.
bool greatest_of(const List* tables, const char* column, int64* greatest) {
  bool found = false;
  for (int i = 0; i < list_length(tables); i++) {
    const Oid relid = list_nth_oid(tables, i);
    int64 key;
    if (get_rel_relkind(relid) == RELKIND_PARTITIONED_TABLE || !greatest_key(relid, column, &key))
      continue;
    if (!found || key > *greatest) *greatest = key;
    found = true;
  }
  return found;
}

// 55000: the key is above all IDs that could be issued now. moment: that of the key as an ID,
// nullptr where it is none.
[[noreturn]] void report_key_ahead(const Request& request, const core::Layout& layout, int64 key,
                                   const core::UnixMicros* moment) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("key " INT64_FORMAT " of column \"%s\" of relation \"%s\" is above the next IDs", key,
              request.column, get_rel_name(request.relid)),
       moment == nullptr
           ? errdetail("It is above all IDs of layout \"%s\".", layout_text(layout.spec))
           : errdetail("An ID of layout \"%s\" that is as great has the time %s, and IDs run ahead "
                       "of the clock by %d ms at most.",
                       layout_text(layout.spec), moment_text(*moment), max_lead_ms),
       errhint("Give rows with such keys other ones before, or choose a layout whose IDs are "
               "greater. If another server has made the key, compare the clocks.")));
  pg_unreachable();
}

// From now on the shard that the column draws from issues only IDs above this key, durably. Where
// the default names none it is to others what it was before this session has set it.
void go_above(const Request& request, int64 key) {
  PlaceDirectory* directory = directory_of(request.call.layout);
  const core::Layout& layout = directory->layout;
  if (key < 0) return;
  core::Parts parts;
  if (Decompose(layout, {key}, &parts) != core::Status::kOk)
    report_key_ahead(request, layout, key, nullptr);
  const core::UnixMicros moment = StartOf(layout, parts.time);
  if (moment.value > unix_now().value + max_lead_us())
    report_key_ahead(request, layout, key, &moment);
  const bool has_shard = request.call.has_shard;
  const int64 shard = has_shard ? request.call.shard : shard_by_default();
  const int64 shard_of_others = has_shard ? shard : shard_resolve_hook(reset_shard_setting());
  for (const int64 drawn : {shard, shard_of_others}) {
    require_shard(layout, drawn);
    advance_shard(directory, drawn, TickBelow(layout, {static_cast<uint64>(drawn)}, parts));
  }
}

void go_above_keys(const List* tables, const Request& request) {
  int64 key;
  if (greatest_of(tables, request.column, &key)) go_above(request, key);
}

// Gives the column the default, and takes from it what it was numbered by. The tables are locked.
void alter(const List* tables, const Request& request, const char* call) {
  const List* sequences = serial_sequences(tables, request.column);
  SPI_connect();
  drop_identities(tables, request.column);
  SPI_execute(psprintf("ALTER TABLE %s ALTER COLUMN %s SET DEFAULT %s",
                       qualified_name(request.relid), quote_identifier(request.column), call),
              false, 0);
  drop_sequences(sequences);
  SPI_finish();
  // What is to be called may have been taken from the extension.
  if (!all_draw(tables, request))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("%s does not call a function of extension \"snowid\"", call),
                    errhint("Put it back by ALTER EXTENSION snowid ADD FUNCTION.")));
}

// Does it all, and returns the call of the column's default.
const char* adopt(const Request& request) {
  require_usable(request.call);
  const char* call = sql_of(request.call);
  List* tables = NIL;
  // All that can be refused is refused, and the shard moved on, before anybody has to wait; and
  // then once more, for what has come meanwhile.
  for (const LOCKMODE mode : {AccessShareLock, AccessExclusiveLock}) {
    tables = lock_tables(request, mode);
    if (all_draw(tables, request)) {
      ereport(NOTICE, (errmsg("column \"%s\" of relation \"%s\" has this default already, nothing "
                              "is changed",
                              request.column, get_rel_name(request.relid))));
      return call;
    }
    go_above_keys(tables, request);
    if (mode != AccessExclusiveLock) unlock_tables(tables, mode);
  }
  alter(tables, request, call);
  return call;
}

// An argument that must not be null. Fails with 22004.
void require_argument(FunctionCallInfo fcinfo, int number, const char* name) {
  if (PG_ARGISNULL(number))
    ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be null", name)));
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_adopt);

// snowid_adopt(tbl regclass, col name, shard bigint, layout snowid_layout) → text
Datum snowid_adopt(PG_FUNCTION_ARGS) {
  require_nextval("snowid_adopt()");
  require_argument(fcinfo, 0, "table");
  require_argument(fcinfo, 1, "column");
  require_argument(fcinfo, 3, "layout");
  const bool has_shard = !PG_ARGISNULL(2);
  const Request request = {
      PG_GETARG_OID(0),
      NameStr(*PG_GETARG_NAME(1)),
      {layout_spec_arg(fcinfo, 3), has_shard, has_shard ? PG_GETARG_INT64(2) : 0}};
  PG_RETURN_TEXT_P(cstring_to_text(adopt(request)));
}
}
