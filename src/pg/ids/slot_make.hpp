// Finding the slot of a shard, and making it where there is none.
//
// Shared: the table of slots, locked as shard_state.hpp says.
#pragma once

#include "pg/ceiling/ceiling.hpp"
#include "pg/database/shard_state.hpp"

namespace snowid::pg {

// The slot of a shard of this database, made where there is none, with this session counted in. The
// ceiling must be known. shard: 0 to the layout's max_shard. Fails as quota_require_room() does,
// and with an error of class 53 where there is no memory. A slot that is made is closed where the
// shard is, see moved_shards.hpp.
Slot* slot_of(const core::Layout& layout, int64 shard);

}  // namespace snowid::pg
