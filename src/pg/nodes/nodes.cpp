// The room's face to others. See nodes.hpp.
#include "pg/nodes/nodes.hpp"

namespace snowid::pg {

void nodes_register() {}

}  // namespace snowid::pg
