// What the room offers to others. See nodes.hpp.
#include "pg/nodes/nodes.hpp"

#include "pg/nodes/number.hpp"

namespace snowid::pg {

void nodes_register() { number_register(); }

}  // namespace snowid::pg
