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
  // Reads the answer from SPI_tuptable. What it fails with counts as the statement's error.
  void (*read)(void* argument);
  void* argument;
};

// Runs the statement in a subtransaction. Returns nullptr, or the error, which has been rolled
// back; but one that cancels the query here is raised. Gives up on a server that does not answer
// ten seconds after the time that its option connect_timeout allows, 10 seconds where it has none.
// Ends the session if the connection cannot be closed: it is the role's, and the caller must not
// get at it. No LWLock may be held.
ErrorData* remote_run(const RemoteStatement& statement);

// An option of a foreign server, nullptr where it has none of this name.
const char* server_option(Oid server, const char* name);

// Whether the error says that the server cannot be reached, or does not answer in time.
bool IsUnreachable(const ErrorData* error);

}  // namespace snowid::pg
