// Buying from other servers. See central.hpp. Nothing is shared; the caller has the right to buy,
// so a server buys from one sequence once at a time.
#include "pg/central.hpp"

#include "pg/compat.hpp"
#include "pg/extension.hpp"

namespace snowid::pg {

namespace {

// Columns of snowid.segment_sources.
constexpr AttrNumber kSequenceColumn = 1;
constexpr AttrNumber kServerColumn = 2;
constexpr AttrNumber kRemoteColumn = 3;

// What is asked of the other server, with the sequence's name as a literal, and how many blocks at
// most. It takes as many blocks as it can at once; an advisory lock keeps others who do the same
// from coming between, and where somebody has, by nextval, the longest row of blocks counts. What
// the sequence's options are is read after the first nextval, which keeps them from changing. With
// a WAL record of its own and a synchronous commit all is durable when it answers, whatever others
// there have set. Operators are named in full, and take operands of exactly their types: anybody
// may have made others there.
constexpr char kPurchase[] =
    "SELECT pg_catalog.min(b.n), pg_catalog.count(*), b.increment, b.max, b.cycles"
    " FROM (SELECT a.n, (a.p).increment AS increment, (a.p).maximum_value AS max,"
    " (a.p).cycle_option AS cycles, a.n::numeric OPERATOR(pg_catalog.-)"
    " ((a.p).increment::numeric OPERATOR(pg_catalog.*)"
    " (pg_catalog.row_number() OVER (ORDER BY a.n))::numeric) AS island"
    " FROM (SELECT pg_catalog.nextval(s.seqrelid::pg_catalog.regclass) AS n,"
    " pg_catalog.pg_sequence_parameters(s.seqrelid) AS p"
    " FROM (SELECT q.*, pg_catalog.set_config('lock_timeout', '2s', true),"
    " pg_catalog.set_config('synchronous_commit', 'on', true),"
    " pg_catalog.pg_advisory_xact_lock((1936617335::bigint OPERATOR(pg_catalog.<<) 32)"
    " OPERATOR(pg_catalog.|) q.seqrelid::bigint),"
    " pg_catalog.pg_logical_emit_message(true, 'snowid'::pg_catalog.text, ''::pg_catalog.text)"
    " FROM pg_catalog.pg_sequence AS q"
    " WHERE q.seqrelid OPERATOR(pg_catalog.=) %s::pg_catalog.regclass::pg_catalog.oid OFFSET 0)"
    " AS s, LATERAL pg_catalog.generate_series(1::bigint, GREATEST(1, LEAST(" UINT64_FORMAT
    ", pg_catalog.div(s.seqmax::numeric OPERATOR(pg_catalog.-)"
    " COALESCE(pg_catalog.pg_sequence_last_value(s.seqrelid), s.seqstart)::numeric,"
    " s.seqincrement::numeric)))::bigint)) AS a) AS b"
    " GROUP BY b.island, b.increment, b.max, b.cycles ORDER BY 2 DESC LIMIT 1";

// Runs a statement of ours with parameters of type text. Needs SPI.
void execute(const char* statement, int count, const char* const* parameters) {
  Oid types[2] = {TEXTOID, TEXTOID};
  Datum values[2];
  for (int i = 0; i < count; i++) values[i] = CStringGetTextDatum(parameters[i]);
  const int result = SPI_execute_with_args(statement, count, types, values, nullptr, false, 0);
  if (result != SPI_OK_SELECT) elog(ERROR, "SPI_execute_with_args: %d", result);
}

// The schema of dblink, quoted.
const char* dblink_schema() {
  const Oid dblink = get_extension_oid("dblink", true);
  if (!OidIsValid(dblink))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("extension \"dblink\" is not installed"),
                    errdetail("Numbers of a sequence on another server are bought over it."),
                    errhint("Use CREATE EXTENSION dblink.")));
  return quote_identifier(get_namespace_name(extension_schema(dblink)));
}

// The name of the connection. A session's own can have any other name.
const char* connection_name() { return psprintf("snowid segment %d", MyProcPid); }

int64 column(int number) {
  bool is_null;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, number, &is_null);
  if (is_null) elog(ERROR, "column %d of a purchase is null", number);
  return DatumGetInt64(value);
}

// Buys over a connection of its own. Needs SPI.
void buy(const CentralSource& source, uint64 blocks, CentralBlocks* bought) {
  get_foreign_server_oid(source.server, false);  // or dblink takes the name for connection options
  const char* schema = dblink_schema();
  const char* const connect[] = {connection_name(), source.server};
  execute(psprintf("SELECT %s.dblink_connect($1, $2)", schema), 2, connect);
  const char* const query[] = {connection_name(),
                               psprintf(kPurchase, quote_literal_cstr(source.remote), blocks)};
  // Types that are keywords: any other name, bool for one, is looked up in the caller's schemas.
  execute(psprintf("SELECT * FROM %s.dblink($1, $2) AS t(first bigint, blocks bigint,"
                   " increment bigint, max bigint, cycles boolean)",
                   schema),
          2, query);
  if (SPI_processed != 1)
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE),
             errmsg("\"%s\" is not a sequence on server \"%s\"", source.remote, source.server)));
  *bought = {column(1), column(2), column(3), column(4)};
  bool is_null;
  if (DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 5, &is_null)) ||
      bought->increment < 1)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence \"%s\" on server \"%s\" cycles or counts down", source.remote,
                           source.server)));
}

// Closes the connection, if there is one. Needs SPI.
void disconnect() {
  if (!OidIsValid(get_extension_oid("dblink", true))) return;
  const char* schema = dblink_schema();
  const char* const name[] = {connection_name()};
  execute(psprintf("SELECT %s.dblink_disconnect($1)"
                   " WHERE $1 OPERATOR(pg_catalog.=) ANY (%s.dblink_get_connections())",
                   schema, schema),
          1, name);
}

// What can be done in a subtransaction.
struct Step {
  const CentralSource* source;
  uint64 blocks;
  CentralBlocks* bought;  // nullptr: disconnect
};

void take(const Step& step) {
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  if (step.bought == nullptr)
    disconnect();
  else
    buy(*step.source, step.blocks, step.bought);
  PopActiveSnapshot();
  SPI_finish();
}

// Takes a step in a subtransaction and as the owner of the sequence, whose user mapping it is; so
// nothing of the caller's may be found by search_path, nor anything be left behind for the end of
// the transaction. Returns nullptr, or the error that it has been rolled back for.
ErrorData* try_to(const Step& step) {
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner resources = CurrentResourceOwner;
  Oid user;
  int security;
  ErrorData* volatile error = nullptr;
  GetUserIdAndSecContext(&user, &security);
  BeginInternalSubTransaction(nullptr);
  PG_TRY();
  {
    SetUserIdAndSecContext(step.source->owner,
                           security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
    const int settings = NewGUCNestLevel();
    set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                      GUC_ACTION_SAVE, true, 0, false);
    take(step);
    AtEOXact_GUC(false, settings);
    SetUserIdAndSecContext(user, security);
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = resources;
  return error;
}

// Whether somebody has cancelled the query here, and not the source its own: dblink, which reports
// what the source does, then has not said so.
bool IsCancelledHere(const ErrorData* error) {
  return error != nullptr && error->sqlerrcode == ERRCODE_QUERY_CANCELED &&
         (error->filename == nullptr || strcmp(error->filename, "dblink.c") != 0);
}

// Not all versions of dblink heed connect_timeout, and none gives up on a server that falls silent.
TimeoutId patience = MAX_TIMEOUTS;
volatile bool is_out_of_patience = false;

void lose_patience() {
  is_out_of_patience = true;
  InterruptPending = true;
  QueryCancelPending = true;
  SetLatch(MyLatch);
}

// Buys, as try_to() does, but gives up after a while: the server's connect_timeout and ten seconds.
ErrorData* try_to_buy(const Step& step) {
  const Oid server = get_foreign_server_oid(step.source->server, true);
  const char* option = OidIsValid(server) ? central_option(server, "connect_timeout") : nullptr;
  const int connect_seconds = option == nullptr ? 10 : std::clamp(atoi(option), 0, 600);
  if (patience == MAX_TIMEOUTS) patience = RegisterTimeout(USER_TIMEOUT, lose_patience);
  is_out_of_patience = false;
  enable_timeout_after(patience, (connect_seconds + 10) * 1000);
  ErrorData* error = try_to(step);
  disable_timeout(patience, false);
  if (!is_out_of_patience) return error;
  QueryCancelPending = false;
  if (IsCancelledHere(error)) error->message = pstrdup("the server does not answer");
  return error;
}

char* text_column(Relation table, HeapTuple row, AttrNumber number) {
  bool is_null;
  return TextDatumGetCString(heap_getattr(row, number, RelationGetDescr(table), &is_null));
}

}  // namespace

void central_find(Oid relid, CentralSource* source) {
  *source = {};
  const Oid table_oid = extension_relation("segment_sources");
  if (!OidIsValid(table_oid)) return;
  // Few rows, so no index; and a snapshot of its own, since the caller's may be older than the row.
  ScanKeyData key;
  Relation table = table_open(table_oid, AccessShareLock);
  ScanKeyInit(&key, kSequenceColumn, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 1, &key);
  HeapTuple row = systable_getnext(scan);
  if (HeapTupleIsValid(row))
    *source = {relation_owner(relid), text_column(table, row, kServerColumn),
               text_column(table, row, kRemoteColumn)};
  systable_endscan(scan);
  table_close(table, AccessShareLock);
}

ErrorData* central_buy(const CentralSource& source, uint64 blocks, CentralBlocks* bought) {
  ErrorData* error = try_to_buy({&source, blocks, bought});
  // The connection is not the transaction's, and is the owner's: the caller must not get at it.
  hold_interrupts();
  ErrorData* leftover = try_to({&source, 0, nullptr});
  resume_interrupts();
  if (leftover != nullptr)
    ereport(FATAL, (errcode(ERRCODE_CONNECTION_EXCEPTION),
                    errmsg("could not close the connection to server \"%s\"", source.server),
                    errdetail_internal("%s", leftover->message)));
  if (IsCancelledHere(error) && !is_out_of_patience) ReThrowError(error);
  return error;
}

const char* central_option(Oid server, const char* name) {
  ListCell* cell;
  foreach (cell, GetForeignServer(server)->options) {
    auto* option = static_cast<DefElem*>(lfirst(cell));
    if (strcmp(option->defname, name) == 0) return defGetString(option);
  }
  return nullptr;
}

bool IsUnreachable(const ErrorData* error) {
  return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_CONNECTION_EXCEPTION ||
         error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN ||
         error->sqlerrcode == ERRCODE_CRASH_SHUTDOWN ||
         error->sqlerrcode == ERRCODE_CANNOT_CONNECT_NOW ||
         error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
         error->sqlerrcode == ERRCODE_QUERY_CANCELED;  // by the source: it has no time
}

void central_report_down(const CentralSource& source, const ErrorData* why) {
  // Who may draw numbers need not know where the server is; the log says.
  ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE),
                  errmsg("could not buy numbers from server \"%s\"", source.server),
                  why != nullptr ? errdetail_internal("%s", why->message)
                                 : errdetail("It could not be reached a moment ago."),
                  why != nullptr && why->detail != nullptr ? errdetail_log("%s", why->detail) : 0,
                  errhint("Numbers go on as soon as the server can be reached.")));
  pg_unreachable();
}

}  // namespace snowid::pg
