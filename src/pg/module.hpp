// The callbacks that PostgreSQL calls: at the end of transactions, subtransactions and processes,
// after DISCARD, and after a relation or a row of pg_class has changed. There is one of each kind,
// a list of calls in the order in which they have to come, as CommitTransaction() in PostgreSQL's
// xact.c has one. (PostgreSQL has room for ten callbacks for relations, and for twenty at the exit
// of a process, of all libraries together.) Only module.cpp includes headers of all modules.
//
// _PG_init() registers all but the last kind; shmem/shared_table.cpp that.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Registers the callback for the exit of this process, which the postmaster's children do not
// inherit. Later calls cost next to nothing. Requires: called before the process uses shared
// memory. Ends the session (54000) if there is no room for another callback.
void callbacks_register_exit();

}  // namespace snowid::pg
