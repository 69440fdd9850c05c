// Shards that move to another server, and all that takes a shard, or a database, above what another
// one has issued. It stands on ids alone. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Has IDs ask this room which shards are closed. Called once, when the library is loaded.
void moves_register();

}  // namespace snowid::pg
