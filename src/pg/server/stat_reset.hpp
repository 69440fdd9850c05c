// The functions that snowid_stat_reset() calls to reset the statistics of each family that has any.
// Belongs to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// From now on stat_reset() calls `reset`, which may fail. To be called once for each function, when
// the library is loaded.
void stat_reset_subscribe(void (*reset)());

void stat_reset();

}  // namespace snowid::pg
