// Making ObjectIDs. Shared: see objectid_next.cpp.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Gives the server's ObjectIDs another random number: before rewinding sets back the slots that all
// databases share, ticks of which may then come again. Fails as
// table_attach() does, and with XX000 where the source of random bytes does.
void objectid_draw_anew();

}  // namespace snowid::pg
