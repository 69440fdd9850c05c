// What the room registers. See kinds.hpp.
#include "pg/kinds/kinds.hpp"

#include "pg/ids/ids.hpp"
#include "pg/kinds/objectid_next.hpp"

namespace snowid::pg {

void kinds_register() { common_set_back_hook = objectid_draw_anew; }

}  // namespace snowid::pg
