// Changing which shards have moved to another server (ids/moved_shards.hpp).
//
// Shared: the table snowid_internal.moved_shards, under moved_lock().
#pragma once

#include "pg/ids/ids.hpp"

namespace snowid::pg {

// Stores a shard's row; in the place of `old`, if that is not nullptr. The table must be as
// moved_lock() returns it. Raises 55000 if something that a superuser has added to the table has
// stored another row, or none.
void moved_store(Relation table, const core::Layout& layout, int64 shard, const Moved* old,
                 const Moved& moved);

// The tick of an ID of the shard. Raises 22023 if it is another shard's.
core::Tick tick_of_shard(const core::Layout& layout, int64 shard, int64 id);

}  // namespace snowid::pg
