// How much memory IDs may take. See shmem/bounds.hpp for what happens beyond that. All shards of
// the default layout have room in each database, whatever others take: 8,192 slots of 80 bytes.
#pragma once

#include "pg/debug.hpp"

namespace snowid::pg {

// Slots of other layouts: of a server, and of a database.
SNOWID_BOUND(max_shards, 1000000);
SNOWID_BOUND(max_shards_of_database, 250000);
// How many slots of the default layout are made before dropped databases are looked for again.
SNOWID_BOUND(shards_between_sweeps, 10000);
// The most slots that one sweep removes, which bounds its memory. The next one can come soon.
SNOWID_BOUND(most_idle_shards, 1 << 16);

}  // namespace snowid::pg
