// The room of a node's own number: Citus, membership and registry. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Registers the room's hooks and settings. Called once, when the library is loaded.
void nodes_register();

}  // namespace snowid::pg
