// DISCARD ALL and DISCARD SEQUENCES make a session forget which IDs and numbers it got last, as it
// forgets lastval and currval: a connection pooler hands the session to somebody else. Belongs to
// one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// From now on `forget` is called after each such statement. To be called once for each function,
// when the library is loaded.
void discard_subscribe(void (*forget)());

}  // namespace snowid::pg
