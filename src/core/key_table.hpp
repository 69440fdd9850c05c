// A hash table of numbers with open addressing and linear probing: the keys of a section
// (pg/counters/keyed_counter.cpp). A key is in the first cache line or the next one.
//
// Shared: the slots are in shared memory. Requires: the caller's lock excludes other processes,
// except in find_slot(), note_use(), and changes of the `last` of a key found.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowid::core {

// A key. The slot is empty if its generation is 0, as in zeroed memory.
struct KeySlot {
  int64_t key;
  std::atomic<int64_t> last;         // the last number issued
  std::atomic<uint64_t> generation;  // the generation of the last use, from 1 on
};

inline bool is_empty(const KeySlot& slot) noexcept {
  return slot.generation.load(std::memory_order_relaxed) == 0;
}

// capacity: a power of two, at least 8. At least one slot stays empty (max_keys).
struct KeyTable {
  KeySlot* slots;
  uint32_t capacity;
};

// The most keys of a table. With more, a search for a missing key takes too long.
constexpr uint32_t max_keys(uint32_t capacity) noexcept { return capacity - capacity / 8; }

// The upper half selects the first slot to search; the lower half is for callers. The final steps
// of Sebastiano Vigna's splitmix64, because keys are often consecutive numbers.
constexpr uint64_t hash_of_key(int64_t key) noexcept {
  auto hash = static_cast<uint64_t>(key);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

// The slot of a key, else the empty slot for it. hash: hash_of_key(key).
inline KeySlot* find_slot(const KeyTable& table, int64_t key, uint64_t hash) noexcept {
  const uint32_t mask = table.capacity - 1;
  auto at = static_cast<uint32_t>(hash >> 32) & mask;
  while (!is_empty(table.slots[at]) && table.slots[at].key != key) at = (at + 1) & mask;
  return &table.slots[at];
}

inline void copy_slot(const KeySlot& from, KeySlot* to) noexcept {
  to->key = from.key;
  to->last.store(from.last.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to->generation.store(from.generation.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

// Removes the keys with slots that satisfy `leaves`, moves the others up, and returns the number
// removed. Begins behind an empty slot, to visit each key's probe sequence before the key.
template <typename Predicate>
uint32_t remove_keys_if(const KeyTable& table, const Predicate& leaves) noexcept {
  uint32_t begin = 0;
  while (!is_empty(table.slots[begin])) begin++;
  uint32_t removed = 0;
  for (uint32_t i = 1; i < table.capacity; i++) {
    KeySlot& slot = table.slots[(begin + i) & (table.capacity - 1)];
    if (is_empty(slot)) continue;
    if (leaves(slot)) {
      removed++;
    } else {
      KeySlot* to = find_slot(table, slot.key, hash_of_key(slot.key));
      if (to == &slot) continue;
      copy_slot(slot, to);
    }
    slot.generation.store(0, std::memory_order_relaxed);
  }
  return removed;
}

inline void copy_keys(const KeyTable& from, const KeyTable& to) noexcept {
  for (uint32_t at = 0; at < from.capacity; at++) {
    const KeySlot& slot = from.slots[at];
    if (!is_empty(slot)) copy_slot(slot, find_slot(to, slot.key, hash_of_key(slot.key)));
  }
}

// Generations of use: each ends after a fixed number of keys was used in it. One word holds the
// current generation above the number of keys used in it, so both advance at once. A section begins
// with generation 2; an unused key is of generation 1.
constexpr int kUseBits = 20;
constexpr uint64_t kFirstUses = uint64_t{2} << kUseBits;
constexpr uint64_t generation_of(uint64_t uses) noexcept { return uses >> kUseBits; }

// Counts a use of a key, in a generation of `most` keys, 1 to 2^20 - 1. A key used just as the
// generation ends may be counted to that one, or not at all.
inline void note_use(std::atomic<uint64_t>* uses, KeySlot* key, uint32_t most) noexcept {
  uint64_t counted = uses->load(std::memory_order_relaxed);
  const uint64_t now = generation_of(counted);
  uint64_t last = key->generation.load(std::memory_order_relaxed);
  do {
    if (last >= now) return;
  } while (!key->generation.compare_exchange_weak(last, now, std::memory_order_relaxed));
  while (generation_of(counted) == now) {
    const bool is_last = counted + 1 >= (now << kUseBits) + most;
    const uint64_t next = is_last ? (now + 1) << kUseBits : counted + 1;
    if (uses->compare_exchange_weak(counted, next, std::memory_order_relaxed)) return;
  }
}

}  // namespace snowid::core
