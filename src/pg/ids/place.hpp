// The places of a session: pointers to the slots of the shards that it has used, so that it looks
// up a slot in shared memory only once. Belongs to one process; nothing here is shared.
//
// What an ID costs must not depend on how many shards are in use, so a place is two loads away, and
// no hash is computed: a layout's places lie in chunks of neighbouring shards, by number. Only
// shards above a million are found by hash.
#pragma once

#include "pg/database/shard_state.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

inline constexpr int64 kNoId = -1;

// A shard as a session sees it. The session is counted in as a user of the slot, so the pointer
// stays valid until it exits.
struct Place {
  Slot* slot;     // nullptr where the session has not used the shard
  int64 last_id;  // the last ID that the session got from it, kNoId before the first
};

struct PlaceDirectory;

// Neighbouring shards.
struct PlaceChunk {
  static constexpr uint32 kShards = 64;
  Place places[kShards];
};

// For each shard of a chunk, how many IDs the session got that are not yet added to the slot, see
// counts.hpp. Apart from the chunk, so that the counts of a chunk are in one cache line.
struct Uncounted {
  uint8 ids[PlaceChunk::kShards];
  PlaceDirectory* directory;  // of which it is
  uint64 number;              // the chunk's
  Uncounted* next;            // a list of those in which there are any
};

// The places of a layout. Made once, and never freed.
struct PlaceDirectory {
  // The chunks below this number, that is the shards below a million, lie in `chunks`.
  static constexpr uint32 kNear = 1 << 14;

  core::Layout layout;
  PlaceChunk** chunks;        // nullptr where no shard of the chunk was used
  Uncounted** uncounted;      // of those chunks that this transaction got IDs from, else nullptr
  Uncounted** all_uncounted;  // of all those chunks
  uint32 capacity;       // how many chunks there is room for: enough for the greatest near one used
  HTAB* far;             // the others by their numbers; nullptr where there are none
  PlaceDirectory* next;  // a list, since a session uses one layout, or a few
};

// The list. Its head, which is always there, is that of core::kInstagram.
extern PlaceDirectory place_directories;

// The one that directory_of() gave last.
extern PlaceDirectory* recent_directory;

// The places of a layout, nullptr where this session has none. Never fails.
PlaceDirectory* find_directory(const core::LayoutSpec& layout) noexcept;

// The places of a layout, made where there are none. Fails with 53200 where there is no memory.
PlaceDirectory* directory_find_or_make(const core::LayoutSpec& layout);

// The same, but quicker where the layout is that of the last call.
inline PlaceDirectory* directory_of(const core::LayoutSpec& layout) {
  if (unlikely(!(layout == recent_directory->layout.spec)))
    recent_directory = directory_find_or_make(layout);
  return recent_directory;
}

// The chunk of this number among the far ones, nullptr where no shard of it was used.
PlaceChunk* find_far_chunk(const PlaceDirectory* directory, uint64 number) noexcept;

// The place of a shard, nullptr where this session has not used it. Never fails.
inline Place* find_place(const PlaceDirectory* directory, int64 shard) noexcept {
  // Where the shard is negative the number is so great that no chunk has it.
  const uint64 number = static_cast<uint64>(shard) / PlaceChunk::kShards;
  const uint64 at = static_cast<uint64>(shard) % PlaceChunk::kShards;
  PlaceChunk* chunk = nullptr;
  if (likely(number < directory->capacity))
    chunk = directory->chunks[number];
  else if (number >= PlaceDirectory::kNear)
    chunk = find_far_chunk(directory, number);
  if (unlikely(chunk == nullptr || chunk->places[at].slot == nullptr)) return nullptr;
  return &chunk->places[at];
}

// Makes the place of a shard that has none. Fails with 22023 where the layout has no such shard,
// and as slot_of() does. The ceiling must be known.
Place* place_make(PlaceDirectory* directory, int64 shard);

// Forgets the last IDs of all places.
void forget_last_ids();

// The last ID that this session got, of whatever shard; kNoId before the first.
extern int64 session_last_id;

// Called by module.cpp.
void at_exit_places();

}  // namespace snowid::pg
