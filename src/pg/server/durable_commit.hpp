// Commits that must be durable and must not be prepared: another server acts on what the statement
// returns. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Makes the commit of this transaction wait until it is on disk, and on the synchronous standbys,
// though the session may not want to wait for its own commits; a setting that waits for more stays.
// PREPARE TRANSACTION fails with 0A000: it would commit with another session's settings, and hold
// what others wait for until then.
void require_durable_commit();

// Called by callbacks.cpp. Raises 0A000 before PREPARE TRANSACTION.
void at_eoxact_durable_commit(XactEvent event);

}  // namespace snowid::pg
