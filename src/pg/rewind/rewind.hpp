// Rewinding: IDs go on by the clock after it ran ahead, and step over the times that it has used
// up. Which these are a superuser states, with the database to himself. See core/wild.hpp for what
// becomes of them.
//
// Shared: what ceiling/wild.hpp and ids/reach.hpp say.
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// Has ids step over wild times. Called once, when the library is loaded.
void rewind_register();

// Takes the lock that keeps sessions from beginning in this database, until alone_unlock() or the
// end of the transaction. Fails with 55006 where somebody else is connected, or has prepared a
// transaction, five seconds long; with 55P03 where another one has the lock for as long.
void alone_lock();
void alone_unlock();

}  // namespace snowid::pg
