// Shards that move to another server: what the ends of transactions do to their slots
// (shard_moves.cpp). Which shards have moved is in ids/shards.hpp.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

// Called by module.cpp. A shard that the transaction has released is opened again if it is rolled
// back; one that it has accepted is opened when it commits. All of it happens under moved_lock(),
// which PostgreSQL releases after these callbacks.
void at_eoxact_moves(XactEvent event);
void at_eosubxact_moves(SubXactEvent event, SubTransactionId part, SubTransactionId parent);

}  // namespace snowid::pg
