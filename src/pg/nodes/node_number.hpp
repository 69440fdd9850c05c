// The node's own number: the shard of snowid_next() and snowid_default_shard(), unless
// snowid.default_shard names one. It comes from Citus, or from the registry that the database has
// joined; otherwise it is 0.
//
// In the order of use: a draw without a shard calls shard_of_setting(), the first one of a database
// node_may_issue(); both are declared below, in ids/issue.hpp and database/database.hpp. Each
// session remembers the number (ids/issue.hpp) until one of the callbacks here forgets it.
// Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

// Defines the settings. Called once, when the library is loaded.
void nodes_register();

// Called by module.cpp. hash: of a row of pg_class by its name, since Citus was installed or
// dropped; 0 for all.
void on_relcache_node_number(Oid relid);
void on_syscache_node_number(uint32 hash);
void at_eoxact_node_number();

}  // namespace snowid::pg
