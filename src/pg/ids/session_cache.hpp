// A session's cache of shards: pointer to the slot, last ID, number of IDs in this transaction.
//
// Finding a cached shard takes two loads and no hash, however many are in use: a layout's shards
// are in chunks, by number, and only those above a million are hashed. IDs are counted in the
// session's memory, and added to the slots when the transaction ends.
//
// In the order of use: layout_cache_of(), find_cached(), cache_shard() for the first ID of a shard,
// count_ids(), counts_flush() when the transaction ends, forget_last_ids().
//
// Shared: Slot::uses, increased. All else is local to the process, and never freed.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "pg/database/database.hpp"

extern "C" {
#include "utils/hsearch.h"
}

namespace snowid::pg {

inline constexpr int64 kNoId = -1;

// This session is a user of the slot, so the pointer stays valid.
struct CachedShard {
  Slot* slot;         // nullptr if the session has not used the shard
  int64 last_id;      // kNoId before the session's first ID
  uint64 uncounted;   // IDs of this transaction, not yet added to the slot
  CachedShard* next;  // a list of those with such IDs
};

struct CacheChunk {
  static constexpr uint32 kShards = 64;
  CachedShard shards[kShards];
};

struct LayoutCache {
  // Chunks below this number, with shards below a million, are in `chunks`.
  static constexpr uint32 kNear = 1 << 14;

  core::Layout layout;
  CacheChunk** chunks;  // by number; nullptr without used shards
  uint32 capacity;      // of `chunks`
  HTAB* far;            // other chunks by number; nullptr if there are none
  LayoutCache* next;    // a list, because sessions use few layouts
};

// The list. Its head, always present, is that of core::kInstagram.
extern LayoutCache layout_caches;

extern LayoutCache* recent_cache;

// The last ID of this session, of any shard; kNoId before the first.
extern int64 session_last_id;

LayoutCache* find_layout_cache(const core::LayoutSpec& layout) noexcept;

// Raises: 53200.
LayoutCache* layout_cache_find_or_make(const core::LayoutSpec& layout);
inline LayoutCache* layout_cache_of(const core::LayoutSpec& layout) {
  return likely(layout == recent_cache->layout.spec) ? recent_cache
                                                     : layout_cache_find_or_make(layout);
}

CacheChunk* find_far_chunk(const LayoutCache* cache, uint64 number) noexcept;

inline CachedShard* find_cached(const LayoutCache* cache, int64 shard) noexcept {
  // A negative shard has a number beyond all chunks.
  const uint64 number = static_cast<uint64>(shard) / CacheChunk::kShards;
  const uint64 at = static_cast<uint64>(shard) % CacheChunk::kShards;
  CacheChunk* chunk = nullptr;
  if (likely(number < cache->capacity))
    chunk = cache->chunks[number];
  else if (number >= LayoutCache::kNear)
    chunk = find_far_chunk(cache, number);
  if (unlikely(chunk == nullptr || chunk->shards[at].slot == nullptr)) return nullptr;
  return &chunk->shards[at];
}

// Requires: the ceiling is known. Raises: 22023 if the layout has no such shard; as slot_of().
CachedShard* cache_shard(LayoutCache* cache, int64 shard);

inline void remember(CachedShard* cached, int64 id) {
  cached->last_id = id;
  session_last_id = id;
}

// Lists a shard, for its first ID in this transaction.
void list_uncounted(CachedShard* cached);

inline void count_ids(CachedShard* cached, uint32 count) {
  if (unlikely(cached->uncounted == 0)) list_uncounted(cached);
  cached->uncounted += count;
}

void counts_flush() noexcept;
void forget_last_ids();
void at_exit_session_cache();

}  // namespace snowid::pg
