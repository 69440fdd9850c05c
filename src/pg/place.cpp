// Making places. See place.hpp. Nothing is ever removed, since slots live as long as the server.
#include "pg/place.hpp"

#include "pg/errors.hpp"

namespace snowid::pg {

PlaceDirectory place_directories = {core::kInstagram, nullptr, 0, nullptr};

namespace {

// In the session's memory, zeroed.
void* allocate(Size size) {
  return MemoryContextAllocExtended(TopMemoryContext, size, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
}

PlaceDirectory* directory_of(const core::Layout& layout) {
  PlaceDirectory* directory = FindDirectory(layout);
  if (directory == nullptr) {
    directory = static_cast<PlaceDirectory*>(allocate(sizeof(PlaceDirectory)));
    directory->layout = layout;
    directory->next = place_directories.next;
    place_directories.next = directory;
  }
  return directory;
}

void widen(PlaceDirectory* directory, uint32 number) {
  uint32 capacity = std::max(directory->capacity, uint32{1});
  while (capacity <= number) capacity *= 2;
  // Allocated before anything changes, since it may fail.
  auto** chunks = static_cast<PlaceChunk**>(allocate(capacity * sizeof(PlaceChunk*)));
  std::copy_n(directory->chunks, directory->capacity, chunks);
  if (directory->chunks != nullptr) pfree(directory->chunks);
  directory->chunks = chunks;
  directory->capacity = capacity;
}

}  // namespace

Place place_make(const core::Layout& layout, int32 shard) {
  if (shard < 0 || static_cast<uint32>(shard) > layout.MaxShard().value)
    report_shard_out_of_range(layout, shard);
  Slot* slot = shared_slot(layout, {static_cast<uint32>(shard)});

  PlaceDirectory* directory = directory_of(layout);
  const uint32 number = static_cast<uint32>(shard) / PlaceChunk::kShards;
  const uint32 at = static_cast<uint32>(shard) % PlaceChunk::kShards;
  if (number >= directory->capacity) widen(directory, number);
  PlaceChunk*& chunk = directory->chunks[number];
  if (chunk == nullptr) {
    auto* made = static_cast<PlaceChunk*>(allocate(sizeof(PlaceChunk)));
    std::fill_n(made->last_ids, PlaceChunk::kShards, kNoId);
    chunk = made;
  }
  chunk->slots[at] = slot;
  return {slot, &chunk->last_ids[at]};
}

void ForgetLastIds() {
  for (PlaceDirectory* directory = &place_directories; directory != nullptr;
       directory = directory->next)
    for (uint32 number = 0; number < directory->capacity; number++)
      if (directory->chunks[number] != nullptr)
        std::fill_n(directory->chunks[number]->last_ids, PlaceChunk::kShards, kNoId);
}

}  // namespace snowid::pg
