// The node number: the shard of snowid_next() and snowid_default_shard(), unless
// snowid.default_shard sets one. Citus or a registry assigns it; otherwise it is 0.
//
// In the order of use: for an ID without a shard, ids/issue.hpp calls shard_of_setting(); for the
// first ID of a database, database/database.hpp calls node_may_issue(). Each session caches the
// number (ids/issue.hpp) until a relcache invalidation of any relation, because Citus' tables may
// be created; sometimes only in a transaction. Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

void nodes_register();

void at_eoxact_node_number();

}  // namespace snowid::pg
