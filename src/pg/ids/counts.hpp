// How many IDs a session got from each shard. It counts them in its own memory, a byte for each
// place, and adds the counts to the slots at the end of the transaction, committed or not. So the
// slots' counts lag by a transaction, and the quick path adds one to a byte and no more.
//
// Shared: Slot::uses, added to. The rest belongs to one process.
#pragma once

#include "pg/ids/place.hpp"

namespace snowid::pg {

// Makes the directory point to the counts of a chunk, for its first ID in this transaction.
Uncounted* count_begin(const PlaceDirectory* directory, uint64 number);

// Counts `count` IDs that the session got at once, in the slot at once.
void count_many(Slot* slot, uint32 count);

// Counts an ID of a shard. place: the shard's. For shards that are found by hash it is counted in
// the slot at once.
inline void count_one(const PlaceDirectory* directory, const Place* place, int64 shard) {
  const uint64 number = static_cast<uint64>(shard) / PlaceChunk::kShards;
  const uint64 at = static_cast<uint64>(shard) % PlaceChunk::kShards;
  if (unlikely(number >= directory->capacity)) return count_many(place->slot, 1);
  Uncounted* uncounted = directory->uncounted[number];
  if (unlikely(uncounted == nullptr)) uncounted = count_begin(directory, number);
  if (unlikely(++uncounted->ids[at] == 0)) add_issued(place->slot, uint64{PG_UINT8_MAX} + 1);
}

// Adds what this session has counted to the slots. Never fails. Called by module.cpp at the
// exit of the process.
void counts_flush() noexcept;

// Called by module.cpp.
void at_eoxact_counts(XactEvent event);

}  // namespace snowid::pg
