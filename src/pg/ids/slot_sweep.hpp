// Removing slots that nobody uses: where a server or a database has as many of other layouts than
// the default one as it may, those; and whatever dropped databases have left.
//
// Shared: the entries of the tables "databases" and "slots", locked as shard_state.hpp says.
#pragma once

#include "pg/database/shard_state.hpp"
#include "pg/shmem/bounds.hpp"

namespace snowid::pg {

// Makes sure that this database may have another slot. Sweeps where a bound is reached, and now and
// then for dropped databases. Returns the quota that the slot counts for. Fails as
// quota_require_room() does, where memory is refused, and as reading catalogs does.
Quota& slots_require_room(const SlotKey& key);

}  // namespace snowid::pg
