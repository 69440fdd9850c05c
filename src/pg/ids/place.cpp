// Making places. See place.hpp. Nothing is removed before the process ends.
#include "pg/ids/place.hpp"

#include "pg/errors.hpp"
#include "pg/ids/slot_make.hpp"

namespace snowid::pg {

PlaceDirectory place_directories = {core::kInstagram, nullptr, nullptr, nullptr, 0,
                                    nullptr,          nullptr};
PlaceDirectory* recent_directory = &place_directories;
int64 session_last_id = kNoId;

namespace {

// An entry of PlaceDirectory::far.
struct FarChunk {
  uint64 number;  // the key
  PlaceChunk* chunk;
};

// In the session's memory, zeroed.
void* allocate_zeroed(Size size) { return MemoryContextAllocZero(TopMemoryContext, size); }

PlaceChunk* make_chunk() {
  auto* chunk = static_cast<PlaceChunk*>(allocate_zeroed(sizeof(PlaceChunk)));
  for (Place& place : chunk->places) place.last_id = kNoId;
  return chunk;
}

// A copy of an array of a directory that is to get longer.
template <typename Element>
Element** lengthen_array(Element* const* old, uint32 count, uint32 capacity) {
  auto** longer = static_cast<Element**>(allocate_zeroed(capacity * sizeof(Element*)));
  std::copy_n(old, count, longer);
  return longer;
}

template <typename Array>
void replace_array(Array& old, Array by) {
  if (old != nullptr) pfree(old);
  old = by;
}

void widen_directory(PlaceDirectory* directory, uint64 number) {
  uint32 capacity = std::max(directory->capacity, uint32{1});
  while (capacity <= number) capacity *= 2;
  // Allocated before anything changes, since it may fail.
  auto** chunks = lengthen_array(directory->chunks, directory->capacity, capacity);
  auto** all_uncounted = lengthen_array(directory->all_uncounted, directory->capacity, capacity);
  auto** uncounted = lengthen_array(directory->uncounted, directory->capacity, capacity);
  replace_array(directory->chunks, chunks);
  replace_array(directory->all_uncounted, all_uncounted);
  replace_array(directory->uncounted, uncounted);
  directory->capacity = capacity;
}

PlaceChunk* near_chunk(PlaceDirectory* directory, uint64 number) {
  constexpr Size kLine = 64;
  if (number >= directory->capacity) widen_directory(directory, number);
  PlaceChunk*& chunk = directory->chunks[number];
  if (chunk != nullptr) return chunk;
  void* memory = allocate_zeroed(sizeof(Uncounted) + kLine);
  auto* all_uncounted = reinterpret_cast<Uncounted*>(TYPEALIGN(kLine, memory));
  all_uncounted->directory = directory;
  all_uncounted->number = number;
  chunk = make_chunk();
  directory->all_uncounted[number] = all_uncounted;
  return chunk;
}

PlaceChunk* far_chunk(PlaceDirectory* directory, uint64 number) {
  PlaceChunk* chunk = find_far_chunk(directory, number);
  if (chunk != nullptr) return chunk;
  if (directory->far == nullptr) {
    HASHCTL options{};
    options.keysize = sizeof(uint64);
    options.entrysize = sizeof(FarChunk);
    options.hcxt = TopMemoryContext;
    directory->far =
        hash_create("snowid shards", 64, &options, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  }
  chunk = make_chunk();
  auto* entry = static_cast<FarChunk*>(hash_search(directory->far, &number, HASH_ENTER, nullptr));
  entry->chunk = chunk;
  return chunk;
}

// Calls a function with each chunk of the session.
void for_each_chunk(void (*visit)(PlaceChunk*)) {
  for (PlaceDirectory* directory = &place_directories; directory != nullptr;
       directory = directory->next) {
    for (uint32 number = 0; number < directory->capacity; number++)
      if (directory->chunks[number] != nullptr) visit(directory->chunks[number]);
    if (directory->far == nullptr) continue;
    HASH_SEQ_STATUS scan;
    hash_seq_init(&scan, directory->far);
    while (const auto* entry = static_cast<FarChunk*>(hash_seq_search(&scan))) visit(entry->chunk);
  }
}

}  // namespace

PlaceDirectory* find_directory(const core::LayoutSpec& layout) noexcept {
  PlaceDirectory* directory = &place_directories;
  while (directory != nullptr && !(directory->layout.spec == layout)) directory = directory->next;
  return directory;
}

PlaceDirectory* directory_find_or_make(const core::LayoutSpec& layout) {
  PlaceDirectory* directory = find_directory(layout);
  if (directory == nullptr) {
    directory = static_cast<PlaceDirectory*>(allocate_zeroed(sizeof(PlaceDirectory)));
    directory->layout = core::make_layout(layout);
    directory->next = place_directories.next;
    place_directories.next = directory;
  }
  return directory;
}

PlaceChunk* find_far_chunk(const PlaceDirectory* directory, uint64 number) noexcept {
  if (directory->far == nullptr) return nullptr;
  const auto* entry =
      static_cast<FarChunk*>(hash_search(directory->far, &number, HASH_FIND, nullptr));
  return entry == nullptr ? nullptr : entry->chunk;
}

Place* place_make(PlaceDirectory* directory, int64 shard) {
  require_shard(directory->layout, shard);
  const uint64 number = static_cast<uint64>(shard) / PlaceChunk::kShards;
  const uint64 at = static_cast<uint64>(shard) % PlaceChunk::kShards;
  PlaceChunk* chunk;
  Slot* slot = slot_of(directory->layout, shard);
  PG_TRY();
  {
    chunk = number < PlaceDirectory::kNear ? near_chunk(directory, number)
                                           : far_chunk(directory, number);
  }
  PG_CATCH();
  {
    let_go(slot);
    PG_RE_THROW();
  }
  PG_END_TRY();
  chunk->places[at].slot = slot;
  return &chunk->places[at];
}

// At the process's exit. What was counted in its places has been added to the slots before
// (counts.cpp).
void at_exit_places() {
  for_each_chunk([](PlaceChunk* chunk) {
    for (Place& place : chunk->places) let_go(place.slot);
  });
}

void forget_last_ids() {
  session_last_id = kNoId;
  for_each_chunk([](PlaceChunk* chunk) {
    for (Place& place : chunk->places) place.last_id = kNoId;
  });
}

}  // namespace snowid::pg
