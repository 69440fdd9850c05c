// A session's own list of the shards that it has used, so that it looks up a slot in shared memory
// only once. Belongs to one process; nothing here is shared.
#pragma once

#include "pg/ceiling.hpp"
#include "pg/prelude.hpp"
#include "pg/shared.hpp"

namespace snowid::pg {

// Moves when place_make() adds one: not to be kept from call to call.
struct Place {
  core::Layout layout;
  core::Shard shard;
  Slot* slot;
  int64 last_id;  // the last ID that this session got from the slot, kNoId before the first
};

inline constexpr int64 kNoId = -1;

// The place used last; nullptr before the first.
extern Place* recent_place;

// The place of a shard, found or made. Fails with 22023 where the layout has no such shard, and as
// shared_slot() does. The ceiling must be known.
Place* place_make(const core::Layout& layout, int32 shard);

// Forgets the last IDs of all places.
void ForgetLastIds();

// The place of a shard, nullptr where this session has not used it. Never fails.
Place* FindPlace(const core::Layout& layout, int32 shard);

}  // namespace snowid::pg
