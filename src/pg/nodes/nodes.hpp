// The room of what takes more than one server: the node's own number, shards that move, and what
// helps tables follow. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Has IDs ask this room what they cannot know. Called once, when the library is loaded.
void nodes_register();

}  // namespace snowid::pg
