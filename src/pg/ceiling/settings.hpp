// The setting of the ceiling. It belongs to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// snowid.ceiling_step: 10 to 5000. After a restart callers may have to wait for as long, so it is
// no more than the default of snowid.max_wait. See also core/ceiling.hpp.
extern int ceiling_step_ms;
inline int64 ceiling_step_us() { return int64{ceiling_step_ms} * 1000; }

// Defines it. Called once, when the library is loaded.
void ceiling_settings_register();

}  // namespace snowid::pg
