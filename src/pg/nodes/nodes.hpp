// The node's own number: the shard of snowid_next() and snowid_default_shard(), unless snowid.shard
// names one. It comes from Citus, or from the registry that the database has joined; otherwise it
// is 0.
//
// Each session remembers it (ids/settings.hpp) until an invalidation. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Sets shard_resolve_hook and may_issue_hook, and defines the settings. Called once, when the
// library is loaded.
void nodes_register();

}  // namespace snowid::pg
