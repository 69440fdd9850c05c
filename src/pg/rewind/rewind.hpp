// Rewinding: IDs go on by the clock after it ran ahead, and step over the times that it has used
// up. Which these are a superuser states, with the database to himself. See core/wild.hpp for what
// becomes of them.
//
// Shared: what ceiling/wild.hpp and ids/reach.hpp say.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Has ids step over wild times. Called once, when the library is loaded.
void rewind_register();

}  // namespace snowid::pg
