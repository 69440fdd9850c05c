// The registry's side of joining: the function that nodes call.
//
// Shared: the table snowid.nodes, as nodes_table.hpp says. A caller needs no right on it, and has
// none: all that he can do to a row he does by knowing its secret or its token.
#include "pg/nodes/registry.hpp"

#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/durable_commit.hpp"
#include "pg/nodes/nodes_table.hpp"

namespace snowid::pg {

namespace {

struct Request {
  const char* what;
  const char* node;
  int64 number;
  const char* secret;
  int64 token;
  int64 next_token;
  const char* database;
  int64 system_identifier;
  Oid database_oid;
  int64 timeline;
  core::UnixMicros ceiling;
  TimestampTz now;
  const char* written_by;
};

// What a request has to know of all rows.
struct Rows {
  NodeRow numbered;       // that of its number
  NodeRow named;          // that of its node's name
  NodeRow claimed;        // the one that an earlier try of the same claim has made
  int64 free;             // the least free number, 0 where there is none
  TimestampTz next_free;  // when there is one, where all that are not are given back
};

// Whether the request knows the row's token.
bool KnowsToken(const NodeRow& row, const Request& request) {
  const int64 token = int64_of(row, kToken);
  return token == request.token || token == request.next_token;
}

bool IsSameDatabase(const NodeRow& row, const Request& request) {
  return int64_of(row, kSystem) == request.system_identifier &&
         DatumGetObjectId(row.values[kDatabaseOid]) == request.database_oid;
}

// Whether it asks as a standby that was promoted before it had heard of the last exchange. (One
// that lags by more cannot be told from a copy.)
bool IsPromoted(const NodeRow& row, const Request& request) {
  const int64 previous = int64_of(row, kPreviousToken);
  return IsSameDatabase(row, request) && request.timeline > int64_of(row, kTimeline) &&
         (previous == request.token || previous == request.next_token);
}

// Reads all rows, of which there are 8191 at most, as they are now.
void read_rows(Relation table, const Request& request, Rows* rows) {
  static_assert(kMostNumber < 1 << 13);
  bool is_taken[kMostNumber + 1] = {};
  *rows = {};
  rows->next_free = DT_NOEND;
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));) {
    const NodeRow row = node_row_read(table, tuple);
    const int64 number = int64_of(row, kNumber);
    if (number >= 1 && number <= kMostNumber) is_taken[number] = !IsFree(row, request.now);
    if (!IsInUse(row))
      rows->next_free = std::min(rows->next_free, DatumGetTimestampTz(row.values[kFreeFrom]));
    if (number == request.number) rows->numbered = row;
    if (text_is(row, kNode, request.node)) rows->named = row;
    if (IsInUse(row) && KnowsToken(row, request) && IsSameDatabase(row, request))
      rows->claimed = row;
  }
  systable_endscan(scan);
  for (int64 number = kMostNumber; number >= 1; number--)
    if (!is_taken[number]) rows->free = number;
}

// The later of what the row and the request say of IDs.
TimestampTz last_id_time(const NodeRow& row, const Request& request) {
  const TimestampTz reported = to_timestamptz(request.ceiling);
  if (row.tuple == nullptr) return reported;
  return std::max(reported, DatumGetTimestampTz(row.values[kLastIdTime]));
}

// Stores the row as the node's that asks. It had the number before, or gets it now.
void store_held(Relation table, NodeRow* row, const Request& request, bool gets_it) {
  const bool is_new = row->tuple == nullptr;
  const int64 previous = is_new || gets_it ? 0 : int64_of(*row, kToken);
  row->values[kLastIdTime] = TimestampTzGetDatum(last_id_time(*row, request));
  if (is_new) row->values[kNumber] = Int64GetDatum(request.number);
  std::fill_n(row->nulls, int{kNodeColumns}, false);
  row->nulls[kLeftNode] = row->nulls[kFreeFrom] = true;
  row->values[kNode] = CStringGetTextDatum(request.node);
  row->values[kDatabase] = CStringGetTextDatum(request.database);
  row->values[kSystem] = Int64GetDatum(request.system_identifier);
  row->values[kDatabaseOid] = ObjectIdGetDatum(request.database_oid);
  row->values[kTimeline] = Int64GetDatum(request.timeline);
  if (gets_it) row->values[kClaimed] = TimestampTzGetDatum(request.now);
  row->values[kLastSeen] = TimestampTzGetDatum(request.now);
  row->values[kSecret] = CStringGetTextDatum(request.secret);
  // What is asked twice has exchanged nothing the second time.
  if (previous != request.next_token) row->values[kPreviousToken] = Int64GetDatum(previous);
  row->values[kToken] = Int64GetDatum(request.next_token);
  row->values[kWrittenBy] = CStringGetTextDatum(request.written_by);
  HeapTuple tuple = heap_form_tuple(RelationGetDescr(table), row->values, row->nulls);
  if (is_new)
    CatalogTupleInsert(table, tuple);
  else
    CatalogTupleUpdate(table, &row->tuple->t_self, tuple);
}

// 55000: nothing here says that the number is, or was, the node's.
[[noreturn]] void report_unknown(const Request& request) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("registry knows no node \"%s\" with number " INT64_FORMAT, request.node,
                  request.number),
           errdetail("It may have been restored from a backup that is older than the node."),
           errhint("Where that is so, use snowid_check(take_over => true) on the node, before "
                   "others join. Otherwise use snowid_leave() and snowid_join() there.")));
  pg_unreachable();
}

// 42710.
[[noreturn]] void report_name_taken(const Request& request) {
  ereport(ERROR, (errcode(ERRCODE_DUPLICATE_OBJECT),
                  errmsg("registry has another node \"%s\"", request.node),
                  errhint("Use another name. Where this server is to replace that node and has "
                          "its data, use snowid_check(take_over => true) instead.")));
  pg_unreachable();
}

// 53400.
[[noreturn]] void report_full(const Rows& rows) {
  const bool is_awaited = rows.next_free != DT_NOEND;
  ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                  errmsg("all " INT64_FORMAT " numbers of the registry are taken", kMostNumber),
                  is_awaited ? errdetail("One that was given back is free from %s on.",
                                         timestamptz_to_str(rows.next_free))
                             : 0,
                  errhint("Use snowid_leave() on nodes that are not used any more, or "
                          "snowid_leave(node) here for those that are gone.")));
  pg_unreachable();
}

// What a node is told.
struct Outcome {
  const char* verdict;
  int64 number;
  TimestampTz reported;  // what the row had as its last_id_time; DT_NOBEGIN where there was none
};

// Has the number be the node's, and says so. Arguments as store_held() has them.
Outcome grant(Relation table, NodeRow* row, const Request& request, bool gets_it) {
  const TimestampTz reported =
      row->tuple == nullptr ? DT_NOBEGIN : DatumGetTimestampTz(row->values[kLastIdTime]);
  store_held(table, row, request, gets_it);
  return {kHeld, request.number, reported};
}

Outcome refuse(const Request& request) { return {kLost, request.number, DT_NOBEGIN}; }

// A claim: the least free number, or that which an earlier try has got.
Outcome claim(Relation table, Rows* rows, Request* request) {
  NodeRow* row = &rows->claimed;
  if (rows->named.tuple != nullptr &&
      (row->tuple == nullptr || int64_of(rows->named, kNumber) != int64_of(*row, kNumber)))
    report_name_taken(*request);
  if (row->tuple != nullptr) {
    request->number = int64_of(*row, kNumber);
    return grant(table, row, *request, false);
  }
  if (rows->free == 0) report_full(*rows);
  request->number = rows->free;
  // Once more, for a row of that number that was given back.
  read_rows(table, *request, rows);
  return grant(table, &rows->numbered, *request, true);
}

// Whether the row was not written here, but restored from a dump, or before a fail-over.
bool is_restored(const NodeRow& row, const Request& request) {
  return !text_is(row, kWrittenBy, request.written_by);
}

// A check, or taking over.
Outcome check(Relation table, Rows* rows, const Request& request, bool takes_over) {
  NodeRow* row = &rows->numbered;
  const bool is_known =
      row->tuple != nullptr && IsInUse(*row) && text_is(*row, kSecret, request.secret);
  if (is_known) {
    const bool is_another =
        !is_restored(*row, request) && !KnowsToken(*row, request) && !IsPromoted(*row, request);
    if (is_another && !takes_over) return refuse(request);
    if (rows->named.tuple != nullptr && int64_of(rows->named, kNumber) != request.number)
      report_name_taken(request);
    Outcome outcome = grant(table, row, request, false);
    if (is_another) outcome.verdict = kTaken;
    return outcome;
  }
  const bool is_there = row->tuple != nullptr && !IsFree(*row, request.now);
  if (takes_over && !is_there && rows->named.tuple == nullptr)
    return grant(table, row, request, true);
  if (row->tuple == nullptr || is_restored(*row, request)) report_unknown(request);
  return refuse(request);
}

// Gives the number back, if it is the node's. It is not its own after that in any case, so all
// answers are alike to it.
Outcome release(Relation table, Rows* rows, const Request& request) {
  NodeRow* row = &rows->numbered;
  if (row->tuple == nullptr || !IsInUse(*row) || !text_is(*row, kSecret, request.secret) ||
      !(KnowsToken(*row, request) || is_restored(*row, request)))
    return refuse(request);
  // What the node has reported now counts whatever its clock, and whatever this one's.
  row->values[kLastSeen] = TimestampTzGetDatum(request.now);
  node_row_give_back(table, row, last_id_time(*row, request), request.now);
  return refuse(request);
}

Outcome respond(Relation table, Request* request) {
  Rows rows;
  read_rows(table, *request, &rows);
  if (strcmp(request->what, kClaim) == 0) return claim(table, &rows, request);
  if (strcmp(request->what, kCheck) == 0) return check(table, &rows, *request, false);
  if (strcmp(request->what, kTakeOver) == 0) return check(table, &rows, *request, true);
  if (strcmp(request->what, kRelease) == 0) return release(table, &rows, *request);
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("unknown request of a node: \"%s\"", request->what)));
  pg_unreachable();
}

// The outcome as a row of the function's result.
Datum row_of(FunctionCallInfo fcinfo, const Outcome& outcome, const char* node) {
  // Milliseconds, as the ceiling has them, and such as everybody can read.
  const int64 reported = from_timestamptz(outcome.reported).value / 1000;
  Datum values[] = {CStringGetTextDatum(outcome.verdict), Int64GetDatum(outcome.number),
                    CStringGetTextDatum(node),
                    Int64GetDatum(std::clamp(reported, int64{0}, kLastMillis))};
  bool nulls[4] = {};
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE || columns->natts != 4)
    elog(ERROR, "unexpected result type");
  return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls));
}

void require_valid(const Request& request) {
  const size_t longest =
      std::max({strlen(request.node), strlen(request.secret), strlen(request.database)});
  const bool is_claim = strcmp(request.what, kClaim) == 0;
  if (*request.node != '\0' && longest <= kLongestName &&
      (is_claim || (request.number >= 1 && request.number <= kMostNumber)) && request.token > 0 &&
      request.next_token > 0 && request.ceiling.value >= 0 &&
      request.ceiling.value / 1000 <= kLastMillis)
    return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid request of a node"),
                  errdetail("Its name has 1 to %d bytes.", kLongestName)));
}

// Nobody is to have a number for as long as he likes, once he has given it back.
void require_sane_ceiling(const Request& request) {
  if (to_timestamptz(request.ceiling) <= request.now + USECS_PER_DAY) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("ceiling of node \"%s\" is more than a day ahead of the registry's clock",
                         request.node),
                  errhint("Set the node's clock right. To give its number back all the same, call "
                          "snowid_leave(node) on the registry.")));
}

// Nodes ask by a statement of its own. In a block a member could keep all others out for as long as
// he likes.
void require_no_block() {
  if (IsTransactionBlock() || IsSubTransaction())
    ereport(ERROR, (errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
                    errmsg("%s cannot run inside a transaction block", "snowid.register()")));
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_register);

// snowid.register(request text, node text, number bigint, secret text, token bigint,
// next_token bigint, database text, system_identifier bigint, database_oid bigint,
// timeline bigint, ceiling bigint) → (verdict text, held_number bigint, held_node text,
// reported bigint)
Datum snowid_register(PG_FUNCTION_ARGS) {
  require_nextval("snowid.register()");
  Request request{text_to_cstring(PG_GETARG_TEXT_PP(0)),
                  text_to_cstring(PG_GETARG_TEXT_PP(1)),
                  PG_GETARG_INT64(2),
                  text_to_cstring(PG_GETARG_TEXT_PP(3)),
                  PG_GETARG_INT64(4),
                  PG_GETARG_INT64(5),
                  text_to_cstring(PG_GETARG_TEXT_PP(6)),
                  PG_GETARG_INT64(7),
                  static_cast<Oid>(PG_GETARG_INT64(8)),
                  PG_GETARG_INT64(9),
                  {0},
                  0,
                  registry_identity()};
  int64 ceiling_us;
  request.ceiling = {pg_mul_s64_overflow(PG_GETARG_INT64(10), 1000, &ceiling_us) ? -1 : ceiling_us};
  require_valid(request);
  require_no_block();
  // What the node is told must not be lost here in a crash, whatever the settings.
  require_durable_commit();

  Relation table = nodes_open(ShareRowExclusiveLock);
  // By the clock of after the wait for the lock.
  request.now = GetCurrentTimestamp();
  require_sane_ceiling(request);
  const Outcome outcome = respond(table, &request);
  table_close(table, NoLock);
  CommandCounterIncrement();
  PG_RETURN_DATUM(row_of(fcinfo, outcome, request.node));
}
}
