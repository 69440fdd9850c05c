// The node number: the shard of snowid_next() and snowid_default_shard(), unless
// snowid.default_shard sets one. Citus or a registry assigns it; otherwise it is 0.
//
// In the order of use: for an ID without a shard, ids/issue.hpp calls shard_of_setting(); for the
// first ID of a database, database/database.hpp calls node_may_issue(). Each session caches the
// number (ids/issue.hpp) until a callback of this file resets it. Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

void nodes_register();

// hash: of a pg_class row by name, of Citus' table installed or dropped; 0 for all.
void on_relcache_node_number(Oid relid);
void on_syscache_node_number(uint32 hash);
void at_eoxact_node_number();

}  // namespace snowid::pg
