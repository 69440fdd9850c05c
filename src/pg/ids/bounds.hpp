// How much memory IDs may take. See shared/quota.hpp for what happens beyond that.
#pragma once

#include "pg/base/debug.hpp"

namespace snowid::pg {

// Slots of a server, 80 bytes each.
SNOWID_BOUND(max_shards, 1000000);
// A database with fewer is not refused for what others have.
SNOWID_BOUND(reserved_shards, 10000);
// The most slots that one sweep removes, which bounds its memory. The next one can come soon.
SNOWID_BOUND(most_idle_shards, 1 << 16);

}  // namespace snowid::pg
