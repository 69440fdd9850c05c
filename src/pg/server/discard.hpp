// DISCARD ALL and DISCARD SEQUENCES have a session forget what it has drawn, as they do lastval's
// and currval's: connection poolers hand the session on to somebody else. Belongs to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// From now on `forget` is called after each such statement. To be called once for each function,
// when the library is loaded.
void discard_subscribe(void (*forget)());

}  // namespace snowid::pg
