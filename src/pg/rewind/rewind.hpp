// Rewinding: after the clock was wrong and ran ahead, IDs go on by the right clock, and step over
// the times that the wrong one has used. A superuser states which these are, while no other session
// is connected. core/wild.hpp says how they are stepped over.
//
// Shared: what ceiling/wild.hpp and ids/reach.hpp say.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Sets reach_hook, so that IDs step over wild times. Called once, when the library is loaded.
void rewind_register();

}  // namespace snowid::pg
