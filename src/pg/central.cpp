// Buying from other servers. See central.hpp. Nothing is shared; the caller has the right to buy,
// so a server buys from one sequence once at a time.
#include "pg/central.hpp"

#include "pg/compat.hpp"
#include "pg/extension.hpp"
#include "pg/random.hpp"
#include "pg/subtransaction.hpp"

namespace snowid::pg {

namespace {

// What is asked of the other server, with the sequence's name as a literal, and how many blocks at
// most. It takes as many blocks as it can at once. An advisory lock, which it tries to get for a
// moment, keeps others who do the same from coming between; anybody may hold it, so it goes on
// without. Where somebody comes between, the longest row of blocks counts. What the sequence's
// options are is read after the first nextval, which keeps them from changing. With
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
    " (SELECT true FROM pg_catalog.generate_series(1::bigint, 10::bigint) WHERE CASE"
    " WHEN pg_catalog.pg_try_advisory_xact_lock((1936617335::bigint OPERATOR(pg_catalog.<<) 32)"
    " OPERATOR(pg_catalog.|) q.seqrelid::bigint) THEN true"
    " ELSE pg_catalog.pg_sleep(0.02::double precision) IS NULL END LIMIT 1),"
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
  const char* schema = OidIsValid(dblink) ? get_namespace_name(extension_schema(dblink)) : nullptr;
  if (schema == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("extension \"dblink\" is not installed"),
                    errdetail("Numbers of a sequence on another server are bought over it."),
                    errhint("Use CREATE EXTENSION dblink.")));
  return quote_identifier(schema);
}

// The name of the connection, one that nobody can have taken before.
char connection_name[48];
// Whether there may be one of this name.
bool may_be_connected = false;

void name_connection() {
  uint64 random;
  fetch_random(&random, sizeof(random));
  snprintf(connection_name, sizeof(connection_name), "snowid segment " UINT64_FORMAT, random);
}

// Reports that the other server has answered what no sequence can.
[[noreturn]] void report_nonsense(const CentralSource& source) {
  ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                  errmsg("server \"%s\" has not answered as a server with sequence \"%s\" does",
                         source.server, source.remote),
                  errdetail("A purchase takes at least one block, and no more than were asked for, "
                            "none of it above the sequence's maximum value.")));
  pg_unreachable();
}

// A column of the answer, which is text, as what it should be.
int64 number_column(const CentralSource& source, int column) {
  const char* text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
  if (text == nullptr) report_nonsense(source);
  int64_t number;
  const char* end = text + strlen(text);
  const std::from_chars_result result = std::from_chars(text, end, number);
  if (result.ec != std::errc{} || result.ptr != end) report_nonsense(source);
  return number;
}

// Whether a sequence can have given so many blocks at most.
bool IsPurchase(const CentralBlocks& bought, uint64 most) {
  if (bought.increment < 1 || bought.blocks < 1 || bought.first > bought.max) return false;
  const uint64 blocks = static_cast<uint64>(bought.blocks);
  const uint64 room = static_cast<uint64>(bought.max) - static_cast<uint64>(bought.first);
  return blocks <= most && blocks - 1 <= room / static_cast<uint64>(bought.increment);
}

// Reads the answer to a purchase. Needs SPI.
void read_purchase(const CentralSource& source, uint64 blocks, CentralBlocks* bought) {
  if (SPI_processed == 0)
    ereport(ERROR,
            (errcode(ERRCODE_WRONG_OBJECT_TYPE),
             errmsg("\"%s\" is not a sequence on server \"%s\"", source.remote, source.server)));
  if (SPI_processed > 1) report_nonsense(source);
  *bought = {number_column(source, 1), number_column(source, 2), number_column(source, 3),
             number_column(source, 4)};
  const char* cycles = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 5);
  if (cycles == nullptr) report_nonsense(source);
  if (strcmp(cycles, "t") == 0 || bought->increment < 0)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence \"%s\" on server \"%s\" cycles or counts down", source.remote,
                           source.server)));
  if (!IsPurchase(*bought, blocks)) report_nonsense(source);
}

// Buys over a connection of its own. Needs SPI.
void buy(const CentralSource& source, uint64 blocks, CentralBlocks* bought) {
  const char* schema = dblink_schema();
  const char* const connect[] = {connection_name, source.server};
  may_be_connected = true;
  execute(psprintf("SELECT %s.dblink_connect($1, $2)", schema), 2, connect);
  const char* const query[] = {connection_name,
                               psprintf(kPurchase, quote_literal_cstr(source.remote), blocks)};
  // As text, since what another server sends need not be a number.
  execute(psprintf("SELECT * FROM %s.dblink($1, $2) AS t(first pg_catalog.text,"
                   " blocks pg_catalog.text, increment pg_catalog.text, max pg_catalog.text,"
                   " cycles pg_catalog.text)",
                   schema),
          2, query);
  read_purchase(source, blocks, bought);
}

// Closes the connection, if there is one. Fails where dblink is gone and the connection is not.
// Needs SPI.
void disconnect() {
  if (!may_be_connected) return;
  const char* schema = dblink_schema();
  const char* const name[] = {connection_name};
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

// Takes a step as the owner of the sequence, whose user mapping it is, so nothing of the caller's
// may be found by search_path. A subtransaction that fails takes back whose rights and settings
// count.
void take_as_owner(void* argument) {
  const Step& step = *static_cast<const Step*>(argument);
  Oid user;
  int security;
  GetUserIdAndSecContext(&user, &security);
  SetUserIdAndSecContext(step.source->owner,
                         security | SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  const int settings = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                    GUC_ACTION_SAVE, true, 0, false);
  take(step);
  AtEOXact_GUC(false, settings);
  SetUserIdAndSecContext(user, security);
}

// The same in a subtransaction, so that nothing is left behind for the end of the transaction.
// Returns nullptr, or the error that it has been rolled back for.
ErrorData* try_to(Step step) { return try_in_subtransaction(take_as_owner, &step); }

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
  const char* option = central_option(step.source->server_oid, "connect_timeout");
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

}  // namespace

bool central_is_as_attached(const CentralSource& source) {
  return OidIsValid(source.server_oid) && relation_owner(source.relid) == source.owner;
}

void central_report_changed(const CentralSource& source) {
  const char* sequence = get_rel_name(source.relid);
  const char* hint = "The owner of the sequence can use snowid_segment_attach() again.";
  if (OidIsValid(source.server_oid))
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("sequence \"%s\" has another owner than when it was attached to server \"%s\"",
                    sequence, source.server),
             errdetail("Numbers are bought with the rights of the owner who has attached it."),
             errhint("%s", hint)));
  if (OidIsValid(get_foreign_server_oid(source.server, true)))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("server \"%s\" is not the one that sequence \"%s\" was attached to",
                           source.server, sequence),
                    errhint("%s", hint)));
  ereport(ERROR,
          (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("server \"%s\" does not exist", source.server),
           errdetail("Sequence \"%s\" was attached to it.", sequence), errhint("%s", hint)));
  pg_unreachable();
}

ErrorData* central_buy(const CentralSource& source, uint64 blocks, CentralBlocks* bought) {
  name_connection();
  may_be_connected = false;
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
  if (error->sqlerrcode == ERRCODE_PROTOCOL_VIOLATION) return false;  // it has answered nonsense
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
