// Interrupting a call that connects to another server. libpq waits by itself: as dblink calls it,
// on PostgreSQL 15 as long as it connects, and on any version while the other server changes the
// client's encoding. The end of a connection ends these waits. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Until EndConnecting(), the sockets that this process opens are shut down within a tenth of a
// second once a cancel of the query or an end of the session is pending. The call that waits for
// them then fails, or takes a connection that is gone for a good one. Requires: the caller then
// checks for interrupts.
void begin_connecting();

// May also be called where begin_connecting() has failed.
void EndConnecting();

}  // namespace snowid::pg
