// Running a statement on another server, over dblink, as a role that has a user mapping there. A
// session connects for each statement, and keeps no connection. Nothing is shared.
//
// In the order of use: a function that stores the name of a server calls require_connect_timeout().
// Each statement is a call of remote_run(), which calls `read`, which reads the answer by
// RemoteAnswer. is_unreachable() tells whether to retry after an error.
#pragma once

#include "pg/postgres.hpp"

#include "pg/xact.hpp"

namespace snowid::pg {

// Raises: 55000 if the server has no connect_timeout, or one of 0, which libpq takes for none.
// Without it a session that finds the server gone waits for the system's time-out, which can
// be minutes.
void require_connect_timeout(Oid server);

// Runs a statement in a subtransaction, with the role's user mapping, and then `read`. Its answer
// has `columns` columns, 1 or more, which come as text. server: a foreign server, which exists.
//
// Returns nullptr, or the error that the subtransaction was rolled back for; but a cancel of the
// query here is raised. An error that a person can fix names the server, with a hint: a rejected
// login (28P01, 28000), a read-only server (25006), an invalid answer (08P01).
//
// It gives up on a server that has not answered 10 seconds after its connect_timeout, which counts
// as 10 seconds if the option is not set. If the connection cannot be closed the session ends: it
// has the role's rights, and the caller must not get at it. Requires: no LWLock is held; the query
// is not parallel.
ErrorData* remote_run(Oid server, Oid role, const char* text, int columns, Step read);

// The one row of the answer, which is SPI's result, so only within `read`: column `column`, from 1
// on, as text, and as a number from `least` to `most`. Every value is checked, since another server
// may send anything. Raises: 08P01 if there is not one row, or the value is null or out of range.
struct RemoteAnswer {
  const char* server;  // the name, for the error
  const char* text(int column) const;
  int64 number(int column, int64 least = PG_INT64_MIN, int64 most = PG_INT64_MAX) const;
};

// 08P01: the answer is not one that the statement can give. detail: a sentence.
[[noreturn]] void report_invalid_answer(const char* server, const char* detail);

// Whether remote_run() returned this error because the server cannot be reached, or does not answer
// in time.
bool is_unreachable(const ErrorData* error) noexcept;

// For ereport(): DETAIL of an error of remote_run(). The cause may contain an address and a user: it
// goes to the server's log, and to a user with the rights of pg_database_owner.
int errdetail_of_remote(const ErrorData* error);

}  // namespace snowid::pg
