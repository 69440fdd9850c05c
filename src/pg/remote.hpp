// Running a statement on another server, over dblink, as a role that has a user mapping there. A
// session connects for each statement, and keeps no connection. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

struct RemoteStatement {
  Oid server;  // a foreign server, which exists
  Oid role;    // whose user mapping is used
  const char* text;
  int columns;  // how many its answer has, 1 or more; all come as text
  // Reads the answer from SPI_tuptable. What it raises counts as the statement's error.
  void (*read)(void* argument);
  void* argument;
};

// Runs the statement in a subtransaction. Returns nullptr, or the error that the subtransaction was
// rolled back for; but a cancel of the query here is raised. It gives up on a server that has not
// answered 10 seconds after its connect_timeout, which counts as 10 seconds where the option is not
// set. If the connection cannot be closed the session ends: it has the role's rights, and the
// caller must not get at it. No LWLock may be held, and it must not be called in a parallel query.
ErrorData* remote_run(const RemoteStatement& statement);

// Who reads an answer, and how it reports one that the statement cannot give.
struct AnswerReader {
  void (*report)(const void* of);  // raises 08P01
  const void* of;
};

// Column `column`, from 1 on, of the one row of the answer: as text, and as a number from `least`
// to `most`. Every value is checked, since another server may send anything. Raises: 08P01, by
// reader.report, if there is not one row, or the value is null or out of range.
const char* answer_text(const AnswerReader& reader, int column);
int64 answer_number(const AnswerReader& reader, int column, int64 least = PG_INT64_MIN,
                    int64 most = PG_INT64_MAX);

// Raises: 55000 if the server has no connect_timeout, or one of 0, which libpq takes for none.
// Without it a session that finds the server gone waits for the system's time-out, which can
// be minutes.
void require_connect_timeout(Oid server);

// Whether remote_run() returned this error because the server cannot be reached, or does not answer
// in time.
bool is_unreachable(const ErrorData* error) noexcept;

// Restates an error that remote_run() returned, where somebody has to mend something, so that it
// names the server and says what to do: a login that was refused (28P01, 28000), a server that is
// read-only (25006), an answer with other columns than were asked for (08P01). Leaves others alone.
void remote_explain(const char* server, ErrorData* error);

}  // namespace snowid::pg
