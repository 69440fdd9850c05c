// What module.cpp calls of nodes: the settings of the node number (node_number.cpp), and callbacks
// of it and of moving shards (shard_moves.cpp).
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

void nodes_register();

void at_eoxact_node_number();

// A rollback opens the shards released by the transaction; a commit opens those accepted. Both
// under moved_lock(), which PostgreSQL releases after these callbacks.
void at_eoxact_moves(XactEvent event);
void at_eosubxact_moves(SubXactEvent event, SubTransactionId part, SubTransactionId parent);

}  // namespace snowid::pg
