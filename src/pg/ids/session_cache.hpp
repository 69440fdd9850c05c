// A session's cache of the shards that it has used: a pointer to each one's slot, which is looked
// up in shared memory only once; the last ID that it got; and how many IDs it got in this
// transaction.
//
// The cost of an ID must not depend on the number of shards in use. A cached shard is therefore two
// loads away, and no hash is computed: those of a layout lie in chunks of neighboring shards, by
// number. Only shards above a million are found by hash. IDs are counted in the session's own
// memory, a byte for each shard, and added to the slots at the end of the transaction, committed or
// not: the fast path adds one to a byte, and the slots' counts lag by a transaction.
//
// Called in this order: layout_cache_of() once for a call, find_cached(), cache_shard() for the
// first ID of a shard (issue.hpp), count_one() or count_many() for each ID; counts_flush() at the
// end of the transaction; forget_last_ids() at DISCARD.
//
// Shared: Slot::uses, added to. All else belongs to one process, and is not freed before it exits.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "pg/database/database.hpp"

extern "C" {
#include "access/xact.h"
#include "utils/hsearch.h"
}

namespace snowid::pg {

inline constexpr int64 kNoId = -1;

// The session is counted in as a user of the slot, so the pointer stays valid until it exits.
struct CachedShard {
  Slot* slot;     // nullptr if the session has not used the shard
  int64 last_id;  // the last ID that the session got from it, kNoId before the first
};

struct Uncounted;
struct LayoutCache;

// Neighboring shards.
struct CacheChunk {
  static constexpr uint32 kShards = 64;
  CachedShard shards[kShards];
  Uncounted* counts;  // nullptr for a far chunk
};

// For each shard of a chunk, how many IDs the session got that are not yet added to the slot. Apart
// from the chunk, which puts the counts of a chunk into one cache line.
struct Uncounted {
  uint8 ids[CacheChunk::kShards];
  LayoutCache* cache;  // of which it is
  uint64 number;       // the chunk's
  Uncounted* next;     // a list of those in which there are any
};

// The shards of a layout.
struct LayoutCache {
  // The chunks below this number, that is the shards below a million, lie in `chunks`.
  static constexpr uint32 kNear = 1 << 14;

  core::Layout layout;
  CacheChunk** chunks;    // by number; nullptr if no shard of the chunk was used
  Uncounted** uncounted;  // of those chunks that this transaction got IDs from, else nullptr
  uint32 capacity;        // how many chunks there is room for
  HTAB* far;              // the other chunks, by number; nullptr if there are none
  LayoutCache* next;      // a list, since a session uses one layout, or a few
};

// The list. Its head, which is always there, is that of core::kInstagram.
extern LayoutCache layout_caches;

// The one that layout_cache_of() has returned last.
extern LayoutCache* recent_cache;

// The last ID that this session got, of whatever shard; kNoId before the first.
extern int64 session_last_id;

// The cache of a layout, nullptr if this session has none.
LayoutCache* find_layout_cache(const core::LayoutSpec& layout) noexcept;

// Finds or makes the cache of a layout, and makes it the recent one. Raises: 53200.
LayoutCache* layout_cache_find_or_make(const core::LayoutSpec& layout);
inline LayoutCache* layout_cache_of(const core::LayoutSpec& layout) {
  return likely(layout == recent_cache->layout.spec) ? recent_cache
                                                     : layout_cache_find_or_make(layout);
}

// The chunk of this number among the far ones, nullptr if there is none.
CacheChunk* find_far_chunk(const LayoutCache* cache, uint64 number) noexcept;

// A shard in the cache, nullptr if this session has not used it.
inline CachedShard* find_cached(const LayoutCache* cache, int64 shard) noexcept {
  // If the shard is negative the number is so great that no chunk has it.
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

// Brings a shard into the cache. Requires: the ceiling is known.
// Raises: 22023 if the layout has no such shard; 53400 if there are too many shards; 53200 or 53100
// if there is no memory; 55000 if the table of moved shards is missing or was altered.
CachedShard* cache_shard(LayoutCache* cache, int64 shard);

// Stores what snowid_currval() and snowid_lastval() return.
inline void remember(CachedShard* cached, int64 id) {
  cached->last_id = id;
  session_last_id = id;
}

// Makes the cache point to the counts of a chunk, for its first ID in this transaction.
Uncounted* begin_count(const LayoutCache* cache, uint64 number);

// Counts IDs in the slot at once.
void count_many(Slot* slot, uint32 count);

// Counts an ID of a shard; of a far one in the slot at once.
inline void count_one(const LayoutCache* cache, const CachedShard* cached, int64 shard) {
  const uint64 number = static_cast<uint64>(shard) / CacheChunk::kShards;
  const uint64 at = static_cast<uint64>(shard) % CacheChunk::kShards;
  if (unlikely(number >= cache->capacity)) return count_many(cached->slot, 1);
  Uncounted* uncounted = cache->uncounted[number];
  if (unlikely(uncounted == nullptr)) uncounted = begin_count(cache, number);
  if (unlikely(++uncounted->ids[at] == 0)) add_issued(cached->slot, uint64{PG_UINT8_MAX} + 1);
}

// Adds what this session has counted to the slots.
void counts_flush() noexcept;

// Makes snowid_currval() and snowid_lastval() undefined.
void forget_last_ids();

// Called by module.cpp.
void at_eoxact_counts(XactEvent event);
void at_exit_session_cache();

}  // namespace snowid::pg
