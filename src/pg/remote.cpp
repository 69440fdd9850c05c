// libpq waits by itself: as dblink calls it, on PostgreSQL 15 as long as it connects, and on any
// version while the other server changes the client's encoding. The end of a connection ends these
// waits: a timer shuts the sockets down once the caller is to be interrupted.
#include "pg/remote.hpp"

#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"
#include "pg/values.hpp"
#include "pg/xact.hpp"

namespace snowid::pg {

namespace {

// Few calls take so long that the timer fires at all.
constexpr int kFirstMs = 1000;
constexpr int kEveryMs = 100;

// The timer that looks for interrupts.
TimeoutId timer = MAX_TIMEOUTS;

// Which descriptors, from 0 to before `descriptors`, were sockets before. A new descriptor is the
// least that is free, so it is less than the number of open files. fd.c bounds those.
bool* was_socket = nullptr;
int descriptors = 0;

bool is_socket(int descriptor) noexcept {
  int type;
  socklen_t length = sizeof(type);
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

// The timer's handler, which runs within any code: it calls what may be called by a signal handler.
void disconnect_if_interrupted() {
  if (!QueryCancelPending && !ProcDiePending) return;
  for (int i = 0; i < descriptors; i++)
    if (!was_socket[i] && is_socket(i)) shutdown(i, SHUT_RDWR);
}

void begin_connecting() {
  if (was_socket == nullptr) {
    // A third more are files that fd.c is only told of.
    const int files = atoi(GetConfigOption("max_files_per_process", false, false));
    const int most = 2 * std::min(files, 100000) + 100;
    was_socket = static_cast<bool*>(MemoryContextAlloc(TopMemoryContext, most));
    descriptors = most;
    timer = RegisterTimeout(USER_TIMEOUT, disconnect_if_interrupted);
  }
  for (int i = 0; i < descriptors; i++) was_socket[i] = is_socket(i);
  enable_timeout_every(timer, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kFirstMs),
                       kEveryMs);
}

void end_connecting() noexcept {
  if (timer != MAX_TIMEOUTS) disable_timeout(timer, false);
}

// Runs a statement of ours with parameters of type text. Needs SPI.
void execute_with_texts(const char* statement, int count, const char* const* parameters) {
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
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("extension \"dblink\" is not installed"),
             errdetail("It connects to other servers."), errhint("Use CREATE EXTENSION dblink.")));
  return quote_identifier(schema);
}

// The connection of one statement.
struct Connection {
  char name[48];       // a random one, so that nobody can have a connection of that name
  const char* server;  // looked up at first: it may be gone when the connection is closed
  bool may_be_there;   // whether there may be a connection of this name
};

void name_connection(Connection* connection) {
  uint64 random;
  fetch_random(&random, sizeof(random));
  snprintf(connection->name, sizeof(connection->name), "snowid " UINT64_FORMAT, random);
}

// The columns of the answer, as the column definition list for dblink. All are text, since another
// server may send anything; the reader checks it.
const char* column_list(int columns) {
  StringInfoData list;
  initStringInfo(&list);
  for (int i = 1; i <= columns; i++)
    appendStringInfo(&list, "%sc%d pg_catalog.text", i == 1 ? "" : ", ", i);
  return list.data;
}

// Whether the statement that was run last gave a number other than 0. Needs SPI.
bool has_given_nonzero() {
  bool is_null;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  SPI_freetuptable(SPI_tuptable);
  return !is_null && DatumGetInt32(value) != 0;
}

// Waits until the other server has answered, or the connection is gone. Interruptible: we wait by
// ourselves, since a call of dblink's that waits heeds no interrupt in PostgreSQL 15, and later
// only every second one. Needs SPI.
void wait_for_answer(const Connection& connection, const char* schema) {
  const char* const name[] = {connection.name};
  const char* is_busy = psprintf("SELECT %s.dblink_is_busy($1)", schema);
  for (long nap_ms = 1;; nap_ms = next_nap(nap_ms)) {
    execute_with_texts(is_busy, 1, name);
    if (!has_given_nonzero()) return;
    nap(nap_ms, remote_wait_event());
  }
}

// What libpq takes for the client encoding to connect with, where nothing else says it.
constexpr char kClientEncoding[] = "PGCLIENTENCODING";

void set_client_encoding(const char* encoding) {
  if (setenv(kClientEncoding, encoding, 1) != 0)
    ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

// Connects, with this database's encoding for the client's. Where a connection has another one,
// dblink has the server change it, which takes longer. dblink takes no option that says the
// encoding, so the environment does, as long as dblink connects. Every encoding of a database can
// be a client's; with SQL_ASCII nothing is converted. Needs SPI.
void make_connection(Connection* connection, const char* schema) {
  const char* const parameters[] = {connection->name, connection->server};
  const char* value = getenv(kClientEncoding);
  const char* before = value != nullptr ? pstrdup(value) : nullptr;
  connection->may_be_there = true;
  set_client_encoding(GetDatabaseEncodingName());
  PG_TRY();
  {
    begin_connecting();
    execute_with_texts(psprintf("SELECT %s.dblink_connect($1, $2)", schema), 2, parameters);
  }
  PG_FINALLY();
  {
    end_connecting();
    if (before != nullptr)
      set_client_encoding(before);
    else
      unsetenv(kClientEncoding);
  }
  PG_END_TRY();
  // Where there is an interrupt, the connection is gone.
  CHECK_FOR_INTERRUPTS();
}

// Runs the statement over a connection of its own. Needs SPI.
void ask_over_dblink(Connection* connection, const RemoteStatement& statement) {
  const char* schema = dblink_schema();
  make_connection(connection, schema);
  const char* const query[] = {connection->name, statement.text};
  execute_with_texts(psprintf("SELECT %s.dblink_send_query($1, $2)", schema), 2, query);
  if (!has_given_nonzero())
    ereport(ERROR, (errcode(ERRCODE_CONNECTION_FAILURE),
                    errmsg("could not send a query to server \"%s\"", connection->server)));
  wait_for_answer(*connection, schema);
  execute_with_texts(psprintf("SELECT * FROM %s.dblink_get_result($1) AS t(%s)", schema,
                              column_list(statement.columns)),
                     1, query);
  statement.read(statement.argument);
}

// Closes the connection, if there is one. Fails where dblink is gone and the connection is not.
// Needs SPI.
void disconnect(Connection* connection, const RemoteStatement&) {
  if (!connection->may_be_there) return;
  const char* schema = dblink_schema();
  const char* const name[] = {connection->name};
  execute_with_texts(psprintf("SELECT %s.dblink_disconnect($1)"
                              " WHERE $1 OPERATOR(pg_catalog.=) ANY (%s.dblink_get_connections())",
                              schema, schema),
                     1, name);
}

// A function to be called in a subtransaction.
struct Step {
  void (*take)(Connection* connection, const RemoteStatement& statement);
  Connection* connection;
  const RemoteStatement& statement;
};

// Calls the function of a step as the role.
void take_as_role(void* argument) {
  const Step& step = *static_cast<const Step*>(argument);
  const Caller caller =
      role_enter(step.statement.role, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
  SPI_connect();
  PushActiveSnapshot(GetTransactionSnapshot());
  step.take(step.connection, step.statement);
  PopActiveSnapshot();
  SPI_finish();
  role_leave(caller);
}

// The same in a subtransaction, so that nothing is left behind for the end of the transaction.
// Returns nullptr, or the error that it has been rolled back for.
ErrorData* try_to(Step step) { return try_in_subtransaction(take_as_role, &step); }

// Whether the query was cancelled here. If the other server has cancelled its own, the SQLSTATE is
// the same, but it is dblink that reports it.
bool is_cancelled_here(const ErrorData* error) noexcept {
  return error != nullptr && error->sqlerrcode == ERRCODE_QUERY_CANCELED &&
         (error->filename == nullptr || strcmp(error->filename, "dblink.c") != 0);
}

constexpr char kConnectTimeout[] = "connect_timeout";

// An option of a foreign server, nullptr where it has none of this name.
const char* server_option(Oid server, const char* name) {
  ListCell* cell;
  foreach (cell, GetForeignServer(server)->options) {
    auto* option = static_cast<DefElem*>(lfirst(cell));
    if (strcmp(option->defname, name) == 0) return defGetString(option);
  }
  return nullptr;
}

// Ends the wait for another server: not all versions of dblink heed connect_timeout, and none gives
// up on a server that stops answering.
TimeoutId patience = MAX_TIMEOUTS;
volatile bool is_out_of_patience = false;

void lose_patience() {
  // The query was cancelled already: that cancel is to be reported, not this timeout.
  if (QueryCancelPending) return;
  is_out_of_patience = true;
  InterruptPending = true;
  QueryCancelPending = true;
  SetLatch(MyLatch);
}

// Runs the statement, and gives up after the time that remote_run() says.
ErrorData* try_to_ask(Connection* connection, const RemoteStatement& statement) {
  const char* option = server_option(statement.server, kConnectTimeout);
  const int connect_seconds = option == nullptr ? 10 : std::clamp(atoi(option), 0, 600);
  if (patience == MAX_TIMEOUTS) patience = RegisterTimeout(USER_TIMEOUT, lose_patience);
  is_out_of_patience = false;
  ErrorData* volatile tried = nullptr;
  enable_timeout_after(patience, (connect_seconds + 10) * 1000);
  // The subtransaction itself may fail to begin, or to end.
  PG_TRY();
  { tried = try_to({ask_over_dblink, connection, statement}); }
  PG_FINALLY();
  { disable_timeout(patience, false); }
  PG_END_TRY();
  ErrorData* error = tried;
  if (!is_out_of_patience) return error;
  // The cancel has come to an error; or it has not, since the answer came at the same moment. (A
  // cancel by somebody else at just that moment is lost: it cannot be distinguished from our own.)
  if (is_cancelled_here(error))
    error->message = pstrdup("the server does not answer");
  else
    QueryCancelPending = false;
  return error;
}

// The SQLSTATE of a login that was refused, or 0 where the error is another one. Of what is wrong
// before a connection is there dblink passes on the text alone. If that is in another language than
// English the server counts as one that cannot be reached.
int refused_login(const ErrorData* error) noexcept {
  // Of dblink, which has a role that is not a superuser connect with a password of its own.
  if (error->sqlerrcode == ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED)
    return ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;
  if (error->sqlerrcode != ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION ||
      error->detail == nullptr)
    return 0;
  for (const char* text : {"password authentication failed", "no password supplied"})
    if (strstr(error->detail, text) != nullptr) return ERRCODE_INVALID_PASSWORD;
  // The last is of one that does not exist, or may not log in.
  for (const char* text : {"authentication failed for user", "pg_hba.conf", "FATAL:  role \""})
    if (strstr(error->detail, text) != nullptr) return ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;
  return 0;
}

}  // namespace

ErrorData* remote_run(const RemoteStatement& statement) {
  assert_holds_none();
  Assert(!IsInParallelMode());
  Connection connection{{}, GetForeignServer(statement.server)->servername, false};
  name_connection(&connection);
  ErrorData* error = try_to_ask(&connection, statement);
  // Not left to the end of the transaction: dblink's connections outlive it.
  hold_interrupts();
  ErrorData* leftover = try_to({disconnect, &connection, statement});
  resume_interrupts();
  if (leftover != nullptr)
    ereport(FATAL, (errcode(ERRCODE_CONNECTION_EXCEPTION),
                    errmsg("could not close the connection to server \"%s\"", connection.server),
                    errdetail_internal("%s", leftover->message)));
  if (is_cancelled_here(error) && !is_out_of_patience) ReThrowError(error);
  // What dblink reports where its connection was ended for an interrupt.
  if (error != nullptr) CHECK_FOR_INTERRUPTS();
  return error;
}

const char* answer_text(const AnswerReader& reader, int column) {
  const char* text = SPI_processed != 1
                         ? nullptr
                         : SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
  if (text == nullptr) reader.report(reader.of);
  return text;
}

int64 answer_number(const AnswerReader& reader, int column, int64 least, int64 most) {
  const char* text = answer_text(reader, column);
  const char* end = text + strlen(text);
  int64_t number = 0;
  const std::from_chars_result result = std::from_chars(text, end, number);
  if (result.ec != std::errc{} || result.ptr != end || number < least || number > most)
    reader.report(reader.of);
  return number;
}

void require_connect_timeout(Oid server) {
  const char* option = server_option(server, kConnectTimeout);
  if (option != nullptr && atoi(option) > 0) return;
  const char* name = GetForeignServer(server)->servername;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("foreign server \"%s\" has no \"%s\"", name, kConnectTimeout),
           errdetail("Without it a session waits for minutes when that server cannot be reached."),
           errhint("Use ALTER SERVER %s OPTIONS (%s %s '2').", quote_identifier(name),
                   option == nullptr ? "ADD" : "SET", kConnectTimeout)));
}

bool is_unreachable(const ErrorData* error) noexcept {
  if (error->sqlerrcode == ERRCODE_PROTOCOL_VIOLATION) return false;  // it has answered nonsense
  return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_CONNECTION_EXCEPTION ||
         error->sqlerrcode == ERRCODE_ADMIN_SHUTDOWN ||
         error->sqlerrcode == ERRCODE_CRASH_SHUTDOWN ||
         error->sqlerrcode == ERRCODE_CANNOT_CONNECT_NOW ||
         error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE ||
         error->sqlerrcode == ERRCODE_QUERY_CANCELED;  // by the other server: it has no time
}

void remote_explain(const char* server, ErrorData* error) {
  const int refused = refused_login(error);
  if (refused != 0) {
    error->sqlerrcode = refused;
    // It may contain the server's address, which is for the log only.
    error->detail_log = error->detail != nullptr ? error->detail : error->message;
    error->detail = nullptr;
    error->message = psprintf("server \"%s\" has refused the login", server);
    error->hint = pstrdup(
        "See to the user and the password of the user mapping. A role that is not a superuser "
        "needs "
        "a password, and the server has to ask for it.");
  } else if (error->sqlerrcode == ERRCODE_READ_ONLY_SQL_TRANSACTION) {
    error->detail = error->message;
    error->message = psprintf("server \"%s\" is read-only", server);
    error->hint = psprintf(
        "Where it can be a standby, list all hosts in its option \"host\", and use ALTER SERVER %s "
        "OPTIONS (ADD target_session_attrs 'read-write').",
        quote_identifier(server));
  } else if (error->sqlerrcode == ERRCODE_DATATYPE_MISMATCH) {
    // What dblink, or the executor here, says of other columns.
    error->sqlerrcode = ERRCODE_PROTOCOL_VIOLATION;
    error->detail = error->message;
    error->message = psprintf("server \"%s\" has not answered with the columns asked for", server);
  }
}

}  // namespace snowid::pg
