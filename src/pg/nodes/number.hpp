// The node's own number: what snowid_next() and snowid_default_shard() go by where snowid.shard
// leaves it to the node. It comes from Citus; or from the registry that the database has joined; or
// it is 0.
//
// The ids keep it for the session, and are told to forget it by invalidation. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Has the ids ask this room for the number. Called once, when the library is loaded.
void number_register();

}  // namespace snowid::pg
