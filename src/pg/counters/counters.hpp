// What other rooms may use of counters: nothing but to register them.
#pragma once

namespace snowid::pg {

// Registers the settings. Called once, when the library is loaded.
void counters_register();

}  // namespace snowid::pg
