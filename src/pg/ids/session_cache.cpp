#include "pg/ids/session_cache.hpp"

#include "pg/errors.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/ids/shards.hpp"
#include "pg/values.hpp"

extern "C" {
#include "utils/memutils.h"
}

namespace snowid::pg {

LayoutCache layout_caches = {core::kInstagram, nullptr, nullptr, 0, nullptr, nullptr};
LayoutCache* recent_cache = &layout_caches;
int64 session_last_id = kNoId;

namespace {

Uncounted* listed = nullptr;

bool has_begun = false;

struct FarChunk {
  uint64 number;  // the key
  CacheChunk* chunk;
};

void* allocate_zeroed(Size size) { return MemoryContextAllocZero(TopMemoryContext, size); }

CacheChunk* make_chunk() {
  auto* chunk = static_cast<CacheChunk*>(allocate_zeroed(sizeof(CacheChunk)));
  for (CachedShard& cached : chunk->shards) cached.last_id = kNoId;
  return chunk;
}

void widen_cache(LayoutCache* cache, uint64 number) {
  uint32 capacity = std::max(cache->capacity, uint32{1});
  while (capacity <= number) capacity *= 2;
  // Both arrays before any change, because allocation may fail.
  auto** pointers = static_cast<void**>(allocate_zeroed(2 * capacity * sizeof(void*)));
  auto** chunks = reinterpret_cast<CacheChunk**>(pointers);
  auto** uncounted = reinterpret_cast<Uncounted**>(pointers + capacity);
  std::copy_n(cache->chunks, cache->capacity, chunks);
  std::copy_n(cache->uncounted, cache->capacity, uncounted);
  if (cache->chunks != nullptr) pfree(cache->chunks);
  cache->chunks = chunks;
  cache->uncounted = uncounted;
  cache->capacity = capacity;
}

CacheChunk* near_chunk(LayoutCache* cache, uint64 number) {
  constexpr Size kLine = 64;
  if (number >= cache->capacity) widen_cache(cache, number);
  CacheChunk*& chunk = cache->chunks[number];
  if (chunk != nullptr) return chunk;
  void* memory = allocate_zeroed(sizeof(Uncounted) + kLine);
  CacheChunk* made = make_chunk();
  made->counts = reinterpret_cast<Uncounted*>(TYPEALIGN(kLine, memory));
  made->counts->cache = cache;
  made->counts->number = number;
  return chunk = made;
}

CacheChunk* far_chunk(LayoutCache* cache, uint64 number) {
  CacheChunk* chunk = find_far_chunk(cache, number);
  if (chunk != nullptr) return chunk;
  if (cache->far == nullptr)
    cache->far = make_hash<uint64, FarChunk>("snowid shards", TopMemoryContext);
  chunk = make_chunk();
  auto* entry = static_cast<FarChunk*>(hash_search(cache->far, &number, HASH_ENTER, nullptr));
  entry->chunk = chunk;
  return chunk;
}

void for_each_chunk(void (*visit)(CacheChunk*)) {
  for (LayoutCache* cache = &layout_caches; cache != nullptr; cache = cache->next) {
    for (uint32 number = 0; number < cache->capacity; number++)
      if (cache->chunks[number] != nullptr) visit(cache->chunks[number]);
    if (cache->far == nullptr) continue;
    HASH_SEQ_STATUS scan;
    hash_seq_init(&scan, cache->far);
    while (const auto* entry = static_cast<FarChunk*>(hash_seq_search(&scan))) visit(entry->chunk);
  }
}

// Otherwise, a backward step of the clock within the lead would go unnoticed.
void begin_counting() {
  has_begun = true;
  note_clock();
}

}  // namespace

LayoutCache* find_layout_cache(const core::LayoutSpec& layout) noexcept {
  LayoutCache* cache = &layout_caches;
  while (cache != nullptr && !(cache->layout.spec == layout)) cache = cache->next;
  return cache;
}

LayoutCache* layout_cache_find_or_make(const core::LayoutSpec& layout) {
  LayoutCache* cache = find_layout_cache(layout);
  if (cache == nullptr) {
    cache = static_cast<LayoutCache*>(allocate_zeroed(sizeof(LayoutCache)));
    cache->layout = core::make_layout(layout);
    cache->next = layout_caches.next;
    layout_caches.next = cache;
  }
  return recent_cache = cache;
}

CacheChunk* find_far_chunk(const LayoutCache* cache, uint64 number) noexcept {
  if (cache->far == nullptr) return nullptr;
  const auto* entry = static_cast<FarChunk*>(hash_search(cache->far, &number, HASH_FIND, nullptr));
  return entry == nullptr ? nullptr : entry->chunk;
}

CachedShard* cache_shard(LayoutCache* cache, int64 shard) {
  require_shard(cache->layout, shard);
  const uint64 number = static_cast<uint64>(shard) / CacheChunk::kShards;
  CacheChunk* chunk =
      number < LayoutCache::kNear ? near_chunk(cache, number) : far_chunk(cache, number);
  CachedShard* cached = &chunk->shards[static_cast<uint64>(shard) % CacheChunk::kShards];
  // Last, because nothing may fail once this session is counted in.
  cached->slot = slot_of(cache->layout, shard);
  return cached;
}

Uncounted* begin_count(const LayoutCache* cache, uint64 number) {
  if (!has_begun) begin_counting();
  Uncounted* of_chunk = cache->chunks[number]->counts;
  cache->uncounted[number] = of_chunk;
  of_chunk->next = listed;
  return listed = of_chunk;
}

void count_many(Slot* slot, uint32 count) {
  add_issued(slot, count);
  if (!has_begun) begin_counting();
}

void counts_flush() noexcept {
  constexpr int kToWrite = 1;
  for (Uncounted* uncounted = listed; uncounted != nullptr; uncounted = uncounted->next) {
    const LayoutCache* cache = uncounted->cache;
    cache->uncounted[uncounted->number] = nullptr;
    const CachedShard* shards = cache->chunks[uncounted->number]->shards;
    // The slots of the whole chunk, which may not be in the processor's cache.
    for (uint32 at = 0; at < CacheChunk::kShards; at++)
      if (uncounted->ids[at] > 0) __builtin_prefetch(shards[at].slot, kToWrite);
    for (uint32 at = 0; at < CacheChunk::kShards; at++) {
      const uint8 count = uncounted->ids[at];
      if (count == 0) continue;
      uncounted->ids[at] = 0;
      add_issued(shards[at].slot, count);
    }
  }
  listed = nullptr;
}

void at_eoxact_counts(XactEvent event) {
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) return;
  counts_flush();
  has_begun = false;
}

void at_exit_session_cache() {
  for_each_chunk([](CacheChunk* chunk) {
    for (CachedShard& cached : chunk->shards) let_go(cached.slot);
  });
}

void forget_last_ids() {
  session_last_id = kNoId;
  for_each_chunk([](CacheChunk* chunk) {
    for (CachedShard& cached : chunk->shards) cached.last_id = kNoId;
  });
}

}  // namespace snowid::pg
