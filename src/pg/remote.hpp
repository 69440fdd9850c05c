// Statements on other servers, over dblink, as a role with a user mapping. Each statement has its
// own connection. Functions that store a server's name call require_connect_timeout().
#pragma once

#include "pg/postgres.hpp"

#include "pg/xact.hpp"

namespace snowid::pg {

// Raises: 55000 if the server has no connect_timeout, or 0, which libpq treats as none. A session
// would wait for the system's timeout, perhaps minutes, when the server is gone.
void require_connect_timeout(Oid server);

// Runs a statement and then `read`, which uses RemoteAnswer, in a subtransaction, with the role's
// user mapping. columns: of the answer, at least 1, of type text. server: must exist.
//
// Returns nullptr, or the error that rolled the subtransaction back. If the user can fix it, it
// names the server and has a hint: a rejected login (28P01, 28000), a read-only server (25006), an
// invalid answer (08P01). Raises: 57014 if this query is canceled.
//
// It gives up 10 s after the server's connect_timeout, 10 s by default. If the connection cannot be
// closed, the session ends, because the caller must not use a connection with the role's rights.
// Requires: no LWLock is held; no parallel query.
ErrorData* remote_run(Oid server, Oid role, const char* text, int columns, Step read);

// The answer's only row, within `read`. column: from 1 on. Every value is checked: another server
// may send anything. Raises: 08P01 if there is not one row, or a value is null or out of range.
struct RemoteAnswer {
  const char* server;  // in errors
  const char* text(int column) const;
  int64 number(int column, int64 least = PG_INT64_MIN, int64 most = PG_INT64_MAX) const;
};

// Raises: 08P01 because the statement cannot have this answer. detail: a sentence.
[[noreturn]] void report_invalid_answer(const char* server, const char* detail);

// Whether an error of remote_run() means an unreachable server, or one that timed out.
bool is_unreachable(const ErrorData* error) noexcept;

// errdetail() for an error of remote_run(). Only the log and roles with the rights of
// pg_database_owner see the cause, because it may contain an address and a user name.
int errdetail_of_remote(const ErrorData* error);

}  // namespace snowid::pg
