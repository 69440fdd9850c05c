// Stepping over wild times: before the clock comes to one, all slots of the database are lifted
// over it, by the first session that asks how far IDs may go.
//
// Shared: what ceiling/wild.hpp and ids/reach.hpp say.
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// What reach_hook is for. Fails as ceiling_lift() does.
core::Reach step_over(const core::Layout& layout);

}  // namespace snowid::pg
