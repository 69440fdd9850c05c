// Callbacks for shards that move (shard_moves.cpp). Which have moved: ids/shards.hpp.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

// A rollback opens the shards released by the transaction; a commit opens those accepted. Both
// under moved_lock(), which PostgreSQL releases after these callbacks.
void at_eoxact_moves(XactEvent event);
void at_eosubxact_moves(SubXactEvent event, SubTransactionId part, SubTransactionId parent);

}  // namespace snowid::pg
