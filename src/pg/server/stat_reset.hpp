// snowid_stat_reset(), which has all statistics of a database begin anew: those of each family that
// has any. Belongs to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// From now on stat_reset() calls `reset`, which may fail. To be called once for each function, when
// the library is loaded.
void stat_reset_subscribe(void (*reset)());

void stat_reset();

}  // namespace snowid::pg
