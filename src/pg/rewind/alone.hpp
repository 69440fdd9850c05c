// Having the database alone. Nothing is shared but a lock of PostgreSQL's.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Takes the lock that keeps sessions from beginning in this database, until alone_unlock() or the
// end of the transaction. Fails with 55006 where somebody else is connected, or has prepared a
// transaction, five seconds long; with 55P03 where another one has the lock for as long.
void alone_lock();
void alone_unlock();

}  // namespace snowid::pg
