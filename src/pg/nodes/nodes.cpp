// The room's face to others. See nodes.hpp.
#include "pg/nodes/nodes.hpp"

#include "pg/nodes/number.hpp"
#include "pg/nodes/released.hpp"

namespace snowid::pg {

void nodes_register() {
  number_register();
  released_register();
}

}  // namespace snowid::pg
