// What other rooms may use of counters: registering them, and their statistics. Nothing is shared
// here.
#pragma once

#include "pg/counters/stats.hpp"

namespace snowid::pg {

// Registers the settings. Called once, when the library is loaded.
void counters_register();

}  // namespace snowid::pg
