// Rewinding: IDs go on by the clock after it ran ahead, and step over the times that it has used
// up. A superuser states which these are, while no other session is connected. See core/wild.hpp
// for how they are stepped over.
//
// Shared: what ceiling/wild.hpp and ids/reach.hpp say.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Sets reach_hook, so that IDs step over wild times. Called once, when the library is loaded.
void rewind_register();

}  // namespace snowid::pg
