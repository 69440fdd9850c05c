// Shards that move to another server. And functions that make a shard, or a database, go on above
// what another server has issued. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Registers this room as the one that knows which shards are closed. Called once, when the library
// is loaded.
void moves_register();

}  // namespace snowid::pg
