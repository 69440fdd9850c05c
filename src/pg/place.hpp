// A session's own list of the shards that it has used, so that it looks up a slot in shared memory
// only once. Belongs to one process; nothing here is shared.
//
// What an ID costs must not depend on how many shards are in use, so a place is two loads away, and
// no hash is computed: a layout's places lie in chunks of neighbouring shards, by number.
#pragma once

#include "pg/prelude.hpp"
#include "pg/shared.hpp"

namespace snowid::pg {

inline constexpr int64 kNoId = -1;

// A shard as a session sees it. What it points to never moves and never goes while the session
// lasts.
struct Place {
  Slot* slot;      // nullptr where the session has not used the shard
  int64* last_id;  // the last ID that the session got from it, kNoId before the first
};

// Neighbouring shards. What is read for each ID lies apart from what is only written.
struct PlaceChunk {
  static constexpr uint32 kShards = 64;
  Slot* slots[kShards];
  int64 last_ids[kShards];
};

// The places of a layout. A list, since a session uses one layout, or a few.
struct PlaceDirectory {
  core::Layout layout;
  PlaceChunk** chunks;  // nullptr where no shard of the chunk was used
  uint32 capacity;      // how many chunks there is room for: enough for the greatest shard used
  PlaceDirectory* next;
};

// The list. Its head, which is always there, is that of core::kInstagram, and is found without a
// look at it by those whom the compiler sees to ask for it.
extern PlaceDirectory place_directories;

// The places of a layout, nullptr where this session has used none. Never fails.
inline PlaceDirectory* FindDirectory(const core::Layout& layout) {
  if (layout == core::kInstagram) return &place_directories;
  PlaceDirectory* directory = place_directories.next;
  while (directory != nullptr && !(directory->layout == layout)) directory = directory->next;
  return directory;
}

// The place of a shard, with a slot of nullptr where this session has not used it. Never fails.
inline Place FindPlace(const core::Layout& layout, int32 shard) {
  const PlaceDirectory* directory = FindDirectory(layout);
  const uint32 number = static_cast<uint32>(shard) / PlaceChunk::kShards;
  const uint32 at = static_cast<uint32>(shard) % PlaceChunk::kShards;
  // A negative shard is beyond every chunk.
  if (directory == nullptr || number >= directory->capacity) return {nullptr, nullptr};
  PlaceChunk* chunk = directory->chunks[number];
  if (chunk == nullptr) return {nullptr, nullptr};
  return {chunk->slots[at], &chunk->last_ids[at]};
}

// Makes the place of a shard that has none. Fails with 22023 where the layout has no such shard,
// and as shared_slot() does. The ceiling must be known.
Place place_make(const core::Layout& layout, int32 shard);

// Forgets the last IDs of all places.
void ForgetLastIds();

}  // namespace snowid::pg
