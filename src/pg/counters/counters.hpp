// What other rooms may use of counters: registering them. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Registers the settings, and what statistics' reset means to counters. Called once, when the
// library is loaded.
void counters_register();

}  // namespace snowid::pg
