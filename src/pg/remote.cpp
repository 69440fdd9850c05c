// dblink lets libpq wait uninterruptibly: in PostgreSQL 15 while connecting, in all versions while
// the server changes the client's encoding. Because closing the connection ends such a wait, a
// timer shuts its sockets down when the caller is interrupted. The same timer limits the wait for a
// server: some versions of dblink ignore connect_timeout, and all of them ignore it once connected.
// dblink's own error is then replaced.
#include "pg/remote.hpp"

#include <sys/socket.h>

#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"
#include "pg/values.hpp"

extern "C" {
#include "catalog/pg_authid.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"
#include "utils/timeout.h"
}

namespace snowid::pg {

namespace {

// Few statements take long enough for the timer to fire.
constexpr int kFirstMs = 1000;
constexpr int kEveryMs = 100;
TimeoutId timer = MAX_TIMEOUTS;

// On the monotonic clock.
instr_time started;
int64 patience_us = 0;
volatile bool has_given_up = false;

// Which descriptors, 0 to `descriptors` - 1, are not dblink's.
bool* was_socket = nullptr;
int descriptors = 0;

bool is_socket(int descriptor) noexcept {
  int type;
  socklen_t length = sizeof(type);
  return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0;
}

// The timer's handler: calls only async-signal-safe functions.
void look_at_statement() {
  if (elapsed_us(started) >= patience_us) has_given_up = true;
  if (!has_given_up && !QueryCancelPending && !ProcDiePending) return;
  for (int i = 0; i < descriptors; i++)
    if (!was_socket[i] && is_socket(i)) shutdown(i, SHUT_RDWR);
}

// Each socket opened from now on is dblink's. Its descriptor is less than the number of open files:
// those bounded by fd.c, plus a third as many known to it.
void note_sockets() {
  const int files = atoi(GetConfigOption("max_files_per_process", false, false));
  descriptors = 2 * std::min(files, 100000) + 100;
  if (was_socket == nullptr)
    was_socket = static_cast<bool*>(MemoryContextAlloc(TopMemoryContext, descriptors));
  for (int i = 0; i < descriptors; i++) was_socket[i] = is_socket(i);
}

void start_timer(int seconds) {
  note_sockets();
  if (timer == MAX_TIMEOUTS) timer = RegisterTimeout(USER_TIMEOUT, look_at_statement);
  INSTR_TIME_SET_CURRENT(started);
  patience_us = seconds * USECS_PER_SEC;
  has_given_up = false;
  enable_timeout_every(timer, TimestampTzPlusMilliseconds(GetCurrentTimestamp(), kFirstMs),
                       kEveryMs);
}

constexpr char kDblink[] = "dblink";

// Texts: the connection's name, random because no session may have a connection of it; the server;
// and the statement for it.
using Parameters = Datum[3];

// The schema of dblink, quoted. Requires: dblink cannot be dropped.
const char* dblink_schema() {
  HeapTuple row = catalog_row(ExtensionRelationId, ExtensionOidIndexId, Anum_pg_extension_oid,
                              get_extension_oid(kDblink, false));
  const auto* form = reinterpret_cast<Form_pg_extension>(GETSTRUCT(row));
  const Oid schema = form->extnamespace;
  heap_freetuple(row);
  return quote_identifier(get_namespace_name(schema));
}

// Runs a statement with dblink's schema for %1$s, and the parameters. Returns whether it returns a
// number other than 0. Requires: SPI_connect().
bool execute(Parameters& parameters, const char* statement) {
  Oid types[] = {TEXTOID, TEXTOID, TEXTOID};
  const int result = SPI_execute_with_args(psprintf(statement, dblink_schema()), lengthof(types),
                                           types, parameters, nullptr, false, 0);
  if (result != SPI_OK_SELECT) elog(ERROR, "SPI_execute_with_args: %d", result);
  if (SPI_processed != 1 || SPI_gettypeid(SPI_tuptable->tupdesc, 1) != INT4OID) return false;
  bool is_null;
  const Datum value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  return !is_null && DatumGetInt32(value) != 0;
}

// dblink's column definition list. All columns are text, checked by the reader.
const char* column_list(int columns) {
  StringInfoData list;
  initStringInfo(&list);
  for (int i = 1; i <= columns; i++)
    appendStringInfo(&list, "%sc%d pg_catalog.text", i == 1 ? "" : ", ", i);
  return list.data;
}

// Runs the statement over its own connection, with the answer in SPI_tuptable. Polls: dblink's wait
// ignores interrupts in PostgreSQL 15, every second one later. Requires: SPI_connect().
void ask_over_dblink(const char* server, Parameters& parameters, int columns) {
  execute(parameters, "SELECT %1$s.dblink_connect($1, $2)");
  if (!execute(parameters, "SELECT %1$s.dblink_send_query($1, $3)"))
    ereport(ERROR, errcode(ERRCODE_CONNECTION_FAILURE),
            errmsg("could not send a query to server \"%s\"", server));
  for (long nap_ms = 1; execute(parameters, "SELECT %1$s.dblink_is_busy($1)");
       nap_ms = next_nap(nap_ms)) {
    SPI_freetuptable(SPI_tuptable);
    nap(nap_ms, wait_event("SnowidRemote"));
  }
  execute(parameters,
          psprintf("SELECT * FROM %%1$s.dblink_get_result($1) AS t(%s)", column_list(columns)));
}

// Runs a step as the role, with SPI. Returns the error that rolled it back, or nullptr.
ErrorData* try_as_role(Oid role, Step step) {
  return try_in_subtransaction([&] {
    const Caller caller =
        role_enter(role, SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION);
    SPI_connect();
    PushActiveSnapshot(GetTransactionSnapshot());
    step();
    PopActiveSnapshot();
    SPI_finish();
    role_leave(caller);
  });
}

// Whether this query was canceled. dblink reports the same SQLSTATE if the other server's was.
bool is_cancelled_here(const ErrorData* error) noexcept {
  return error->sqlerrcode == ERRCODE_QUERY_CANCELED &&
         (error->filename == nullptr || strcmp(error->filename, "dblink.c") != 0);
}

constexpr char kConnectTimeout[] = "connect_timeout";

const char* connect_timeout_of(const ForeignServer* server) {
  ListCell* cell;
  foreach (cell, server->options) {
    auto* option = static_cast<DefElem*>(lfirst(cell));
    if (strcmp(option->defname, kConnectTimeout) == 0) return defGetString(option);
  }
  return nullptr;
}

// The SQLSTATE of a rejected login, else 0. Before a connection exists, dblink passes on only an
// error's text. If that is not in English, the server counts as unreachable.
int refused_login(const ErrorData* error) noexcept {
  // dblink requires a role that is not a superuser to connect with a password.
  if (error->sqlerrcode == ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED)
    return ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;
  if (error->sqlerrcode != ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION ||
      error->detail == nullptr)
    return 0;
  for (const char* text : {"password authentication failed", "no password supplied"})
    if (strstr(error->detail, text) != nullptr) return ERRCODE_INVALID_PASSWORD;
  // The last one means a role that does not exist or may not log in.
  for (const char* text : {"authentication failed for user", "pg_hba.conf", "FATAL:  role \""})
    if (strstr(error->detail, text) != nullptr) return ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;
  return 0;
}

// libpq's message may contain the server's address and a user's name.
bool may_see_cause() { return has_privs_of_role(GetUserId(), ROLE_PG_DATABASE_OWNER); }

// Rewrites an error that the user can fix.
void explain(const char* server, ErrorData* error) {
  const int refused = refused_login(error);
  if (refused != 0) {
    error->sqlerrcode = refused;
    error->detail_log = error->detail != nullptr ? error->detail : error->message;
    error->detail = may_see_cause() ? error->detail_log : nullptr;
    error->message = psprintf("server \"%s\" rejected the login", server);
    error->hint = pstrdup(
        "See to the user and the password of the user mapping. A role that is not a superuser "
        "needs a password, and the server has to ask for it.");
  } else if (error->sqlerrcode == ERRCODE_READ_ONLY_SQL_TRANSACTION) {
    error->detail = error->message;
    error->message = psprintf("server \"%s\" is read-only", server);
    error->hint = psprintf(
        "Where it can be a standby, list all hosts in its option \"host\", and use ALTER SERVER %s "
        "OPTIONS (ADD target_session_attrs 'read-write').",
        quote_identifier(server));
  } else if (error->sqlerrcode == ERRCODE_DATATYPE_MISMATCH) {
    // Raised by dblink or the local executor for other columns.
    error->sqlerrcode = ERRCODE_PROTOCOL_VIOLATION;
    error->detail = error->message;
    error->message = psprintf("invalid answer from server \"%s\"", server);
  }
}

}  // namespace

void require_connect_timeout(Oid oid) {
  const ForeignServer* server = GetForeignServer(oid);
  const char* option = connect_timeout_of(server);
  if (option != nullptr && atoi(option) > 0) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("foreign server \"%s\" has no \"%s\"", server->servername, kConnectTimeout),
          errdetail(
              "Without it, a session waits for minutes when the remote server cannot be reached."),
          errhint("Use ALTER SERVER %s OPTIONS (%s %s '2').", quote_identifier(server->servername),
                  option == nullptr ? "ADD" : "SET", kConnectTimeout));
}

ErrorData* remote_run(Oid oid, Oid role, const char* text, int columns, Step read) {
  assert_holds_none();
  Assert(!IsInParallelMode());
  const ForeignServer* server = GetForeignServer(oid);
  const char* option = connect_timeout_of(server);
  uint64 random;
  fetch_random(&random, sizeof(random));
  Parameters parameters = {CStringGetTextDatum(psprintf("snowid " UINT64_FORMAT, random)),
                           CStringGetTextDatum(server->servername), CStringGetTextDatum(text)};
  ErrorData* volatile tried = nullptr;
  // dblink's owner could otherwise replace its functions during the wait. Not kept if there is
  // none, or a session is dropping it.
  LOCKTAG lock;
  const bool is_kept = extension_keep(kDblink, false, &lock);
  start_timer(10 + (option == nullptr ? 10 : std::clamp(atoi(option), 0, 600)));
  // Beginning or ending the subtransaction may fail, too.
  PG_TRY();
  {
    tried = try_as_role(role, [&] {
      if (!is_kept)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("extension \"%s\" is not installed", kDblink),
                errdetail("It connects to other servers."),
                errhint("Use CREATE EXTENSION %s.", kDblink));
      ask_over_dblink(server->servername, parameters, columns);
      read();
    });
  }
  PG_FINALLY();
  { disable_timeout(timer, false); }
  PG_END_TRY();
  ErrorData* error = tried;
  // At once, because dblink's connections outlive the transaction.
  hold_interrupts();
  ErrorData* leftover = try_as_role(role, [&] {
    if (is_kept)
      execute(parameters,
              "SELECT %1$s.dblink_disconnect($1)"
              " WHERE $1 OPERATOR(pg_catalog.=) ANY (%1$s.dblink_get_connections())");
  });
  resume_interrupts();
  if (leftover != nullptr)
    ereport(FATAL, errcode(ERRCODE_CONNECTION_EXCEPTION),
            errmsg("could not close the connection to server \"%s\"", server->servername),
            errdetail_internal("%s", leftover->message));
  if (is_kept) LockRelease(&lock, AccessShareLock, false);
  if (error == nullptr) return nullptr;
  if (is_cancelled_here(error)) ReThrowError(error);
  // The timer may have closed the connection: for an interrupt, or because it took too long.
  CHECK_FOR_INTERRUPTS();
  if (has_given_up) {
    error->sqlerrcode = ERRCODE_CONNECTION_FAILURE;
    error->message = pstrdup("the server does not answer");
    error->detail = nullptr;
  }
  explain(server->servername, error);
  return error;
}

void report_invalid_answer(const char* server, const char* detail) {
  ereport(ERROR, errcode(ERRCODE_PROTOCOL_VIOLATION),
          errmsg("invalid answer from server \"%s\"", server), errdetail_internal("%s", detail));
}

const char* RemoteAnswer::text(int column) const {
  if (SPI_processed != 1) report_invalid_answer(server, "It does not have one row.");
  const char* value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
  if (value == nullptr) report_invalid_answer(server, psprintf("Column %d is null.", column));
  return value;
}

int64 RemoteAnswer::number(int column, int64 least, int64 most) const {
  const char* value = text(column);
  const char* end = value + strlen(value);
  int64_t number = 0;
  const std::from_chars_result result = std::from_chars(value, end, number);
  if (result.ec != std::errc{} || result.ptr != end || number < least || number > most)
    report_invalid_answer(server, psprintf("Column %d is out of range.", column));
  return number;
}

bool is_unreachable(const ErrorData* error) noexcept {
  if (error->sqlerrcode == ERRCODE_PROTOCOL_VIOLATION) return false;  // it answered
  const int category = ERRCODE_TO_CATEGORY(error->sqlerrcode);
  return category == ERRCODE_CONNECTION_EXCEPTION ||
         category == ERRCODE_OPERATOR_INTERVENTION ||  // shut down, or timed out
         error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE;
}

int errdetail_of_remote(const ErrorData* error) {
  const char* cause = error->detail != nullptr ? error->detail : error->message;
  errdetail_log("%s", cause);
  return errdetail_internal("%s", may_see_cause() ? cause : error->message);
}

}  // namespace snowid::pg
