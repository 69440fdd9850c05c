// What other rooms may use of the other kinds of ID. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Registers the function that gives ObjectIDs another random number when they are set back. Called
// once, when the library is loaded.
void kinds_register();

}  // namespace snowid::pg
