#include "pg/ids/session_cache.hpp"

#include "pg/errors.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/ids/shards.hpp"
#include "pg/values.hpp"

extern "C" {
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
}

namespace snowid::pg {

LayoutCache layout_caches = {core::kInstagram, nullptr, 0, nullptr, nullptr};
LayoutCache* recent_cache = &layout_caches;
int64 session_last_id = kNoId;

namespace {

CachedShard* listed = nullptr;

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

CacheChunk* near_chunk(LayoutCache* cache, uint64 number) {
  if (number >= cache->capacity) {
    const uint32 capacity = pg_nextpower2_32(static_cast<uint32>(number) + 1);
    auto** chunks = static_cast<CacheChunk**>(allocate_zeroed(capacity * sizeof(CacheChunk*)));
    std::copy_n(cache->chunks, cache->capacity, chunks);
    if (cache->chunks != nullptr) pfree(cache->chunks);
    cache->chunks = chunks;
    cache->capacity = capacity;
  }
  CacheChunk*& chunk = cache->chunks[number];
  if (chunk == nullptr) chunk = make_chunk();
  return chunk;
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

void list_uncounted(CachedShard* cached) {
  // Once per transaction: a backward step of the clock within the lead would go unnoticed.
  if (listed == nullptr) note_clock();
  cached->next = listed;
  listed = cached;
}

void counts_flush() noexcept {
  constexpr int kToWrite = 1;
  for (; listed != nullptr; listed = listed->next) {
    // Slots may not be in the processor's cache.
    if (listed->next != nullptr) __builtin_prefetch(listed->next->slot, kToWrite);
    add_issued(listed->slot, listed->uncounted);
    listed->uncounted = 0;
  }
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
