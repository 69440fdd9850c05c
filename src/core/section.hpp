// A section: one counter for each of very many keys, of which memory knows the most recently used.
// All keys share two numbers: the limit, which is durable and which no key passes, as the users of
// a section of WeChat's seqsvr share one max_seq; and the floor, above which a key begins that
// memory does not know.
//
// Shared: a KeyTable lies in memory that all processes see, at any address, so it holds indexes and
// no pointers. Nothing in it is atomic: the caller's lock guards all of it, for reading too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace snowid::core {

// A key and the last number given to it. Its neighbours in the list by use, and the next one with
// the same hash, are named by their places in the table.
struct KeyNode {
  int64_t key;
  int64_t last;
  uint32_t newer;
  uint32_t older;
  uint32_t chain;
  uint32_t unused;
};
static_assert(sizeof(KeyNode) == 32);

// The nodes are followed by `capacity` uint32_t, the heads of the chains. A node and a head are 36
// bytes a key.
struct KeyTable {
  uint32_t capacity;  // keys there is room for
  uint32_t count;     // keys there are: the nodes from 0 on
  uint32_t newest;    // the ends of the list by use
  uint32_t oldest;
  KeyNode nodes[];
};

inline constexpr uint32_t kNoNode = UINT32_MAX;

constexpr size_t KeyTableBytes(uint32_t capacity) {
  return sizeof(KeyTable) + capacity * (sizeof(KeyNode) + sizeof(uint32_t));
}

inline uint32_t* KeyTableHeads(KeyTable* table) {
  return reinterpret_cast<uint32_t*>(table->nodes + table->capacity);
}

// Forgets all keys.
inline void ClearKeys(KeyTable* table) {
  table->count = 0;
  table->newest = table->oldest = kNoNode;
  std::fill_n(KeyTableHeads(table), table->capacity, kNoNode);
}

// Makes a table without keys of KeyTableBytes(capacity) bytes, aligned for an int64_t. capacity: at
// least 1.
inline KeyTable* MakeKeyTable(void* memory, uint32_t capacity) {
  auto* table = static_cast<KeyTable*>(memory);
  table->capacity = capacity;
  ClearKeys(table);
  return table;
}

// The head of the chain that a key belongs in. The mixing is splitmix64's, by Sebastiano Vigna:
// keys are often consecutive numbers.
inline uint32_t* HeadOf(KeyTable* table, int64_t key) {
  uint64_t hash = static_cast<uint64_t>(key);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return KeyTableHeads(table) + ((hash >> 32) * table->capacity >> 32);
}

// The place of a key, kNoNode where the table does not know it.
inline uint32_t FindKey(KeyTable* table, int64_t key) {
  uint32_t at = *HeadOf(table, key);
  while (at != kNoNode && table->nodes[at].key != key) at = table->nodes[at].chain;
  return at;
}

// The list by use, and the chains.

inline void LinkNewest(KeyTable* table, uint32_t at) {
  KeyNode& node = table->nodes[at];
  node.newer = kNoNode;
  node.older = table->newest;
  (table->newest == kNoNode ? table->oldest : table->nodes[table->newest].newer) = at;
  table->newest = at;
}

inline void UnlinkUse(KeyTable* table, uint32_t at) {
  const KeyNode& node = table->nodes[at];
  (node.newer == kNoNode ? table->newest : table->nodes[node.newer].older) = node.older;
  (node.older == kNoNode ? table->oldest : table->nodes[node.older].newer) = node.newer;
}

inline void LinkChain(KeyTable* table, uint32_t at) {
  uint32_t* head = HeadOf(table, table->nodes[at].key);
  table->nodes[at].chain = *head;
  *head = at;
}

inline void UnlinkChain(KeyTable* table, uint32_t at) {
  uint32_t* link = HeadOf(table, table->nodes[at].key);
  while (*link != at) link = &table->nodes[*link].chain;
  *link = table->nodes[at].chain;
}

// Puts a key that the table does not know at a place that holds none.
inline void PutKey(KeyTable* table, uint32_t at, int64_t key, int64_t last) {
  table->nodes[at].key = key;
  table->nodes[at].last = last;
  LinkChain(table, at);
  LinkNewest(table, at);
}

// Gives the longest-unused key's place to a new key, which the table does not know. Returns the
// last number of the one that left. The table is not empty.
inline int64_t ReplaceOldestKey(KeyTable* table, int64_t key, int64_t last) {
  const uint32_t at = table->oldest;
  const int64_t left = table->nodes[at].last;
  UnlinkChain(table, at);
  UnlinkUse(table, at);
  PutKey(table, at, key, last);
  return left;
}

// Adds a key that the table does not know, and has room for.
inline void AddKey(KeyTable* table, int64_t key, int64_t last) {
  PutKey(table, table->count++, key, last);
}

// Copies the `most` most recently used keys of a table into one that has none, and has room for
// them. Returns the greatest last number of those that were left out, or the least int64_t.
inline int64_t CopyKeys(const KeyTable* from, KeyTable* to, uint32_t most) {
  int64_t left_out = std::numeric_limits<int64_t>::min();
  uint32_t skip = from->count - std::min(from->count, most);
  for (uint32_t at = from->oldest; at != kNoNode; at = from->nodes[at].newer) {
    const KeyNode& node = from->nodes[at];
    if (skip > 0) {
      skip--;
      left_out = std::max(left_out, node.last);
    } else {
      AddKey(to, node.key, node.last);
    }
  }
  return left_out;
}

// What a section has beside its keys.
struct SectionState {
  int64_t floor;    // no number above it was given to a key that the table does not know
  int64_t highest;  // no number above it was given to any key
};

enum class SectionStatus : uint8_t {
  kOk,
  kAtLimit,  // the key's next number is above the limit; nothing has changed
  kNoRoom,   // the key is new and the table full; nothing has changed
};

// Gives a key its next number: one above its last, or above the floor where the table does not know
// the key. may_evict: whether, where the table is full, the longest-unused key leaves.
inline SectionStatus NextOfKey(KeyTable* table, SectionState* state, int64_t key, int64_t limit,
                               bool may_evict, int64_t* number) {
  const uint32_t at = FindKey(table, key);
  const int64_t last = at == kNoNode ? state->floor : table->nodes[at].last;
  if (last >= limit) return SectionStatus::kAtLimit;
  const int64_t next = last + 1;
  if (at != kNoNode) {
    table->nodes[at].last = next;
    if (table->newest != at) {
      UnlinkUse(table, at);
      LinkNewest(table, at);
    }
  } else if (table->count < table->capacity) {
    AddKey(table, key, next);
  } else if (may_evict) {
    state->floor = std::max(state->floor, ReplaceOldestKey(table, key, next));
  } else {
    return SectionStatus::kNoRoom;
  }
  state->highest = std::max(state->highest, next);
  *number = next;
  return SectionStatus::kOk;
}

}  // namespace snowid::core
