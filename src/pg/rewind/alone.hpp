// Making sure that no other session is connected to the database. Nothing is shared but a lock of
// PostgreSQL's.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Takes the lock that keeps sessions from beginning in this database, until alone_unlock() or the
// end of the transaction. Fails with 55006 where another session is connected, or a transaction is
// prepared, for five seconds; with 55P03 where another session has the lock for as long.
void alone_lock();
void alone_unlock();

}  // namespace snowid::pg
