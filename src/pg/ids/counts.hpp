// How many IDs a session got from each shard. It counts them in its own memory, in bytes beside its
// places, and tells the slots at the end of the transaction, whatever becomes of that: so counts
// lag by a transaction, and the path that every ID takes does no more than add one to a byte.
//
// Shared: Slot::uses, added to. The rest belongs to one process.
#pragma once

#include "pg/ids/place.hpp"

namespace snowid::pg {

// Has the directory point to what this transaction counts of a chunk. Fails as note_clock() does.
Uncounted* count_begin(const PlaceDirectory* directory, uint64 number, const Slot* slot);

// The session got so many IDs at once, for which the slot is told now. Fails as note_clock() does.
void count_many(Slot* slot, uint32 count);

// It got an ID of this shard, whose place it is. Shards that are found by hash are told at once.
inline void count_one(const PlaceDirectory* directory, const Place* place, int64 shard) {
  const uint64 number = static_cast<uint64>(shard) / PlaceChunk::kShards;
  const uint64 at = static_cast<uint64>(shard) % PlaceChunk::kShards;
  if (unlikely(number >= directory->capacity)) return count_many(place->slot, 1);
  Uncounted* uncounted = directory->uncounted[number];
  if (unlikely(uncounted == nullptr)) uncounted = count_begin(directory, number, place->slot);
  if (unlikely(++uncounted->ids[at] == 0)) AddIssued(place->slot, uint64{PG_UINT8_MAX} + 1);
}

// Tells the slots what this session has counted. Never fails.
void CountsFlush();

}  // namespace snowid::pg
