// Making ObjectIDs. Shared: see objectid_next.cpp.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Gives the server's ObjectIDs another random number: what common_set_back_hook is for. Fails as
// table_attach() does, and with XX000 where the source of random bytes does.
void objectid_draw_anew();

}  // namespace snowid::pg
