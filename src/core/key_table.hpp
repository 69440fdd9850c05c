// A hash table of numbers with open addressing and linear probing, in memory that the caller has:
// the keys of a section (see pg/counters/keyed_counter.cpp). A known key is in the first cache line
// read or the next one, unlike in a table of linked entries.
//
// Shared: the slots lie in memory that all processes see. The functions are for one process at a
// time, except find_slot(), which any number of processes may call, and then change the `last` and
// the `generation` of the key that they have found. The caller's lock sees to that.
#pragma once

#include <atomic>
#include <cstdint>

namespace snowid::core {

// A key; an empty slot if its generation is 0, as in memory that is all zeros.
struct KeySlot {
  int64_t key;
  std::atomic<int64_t> last;         // the last number that it was given
  std::atomic<uint64_t> generation;  // in which it was last used, from 1 on
};

inline bool is_empty(const KeySlot& slot) noexcept {
  return slot.generation.load(std::memory_order_relaxed) == 0;
}

// capacity: a power of two, at least 8. One slot at least stays empty, see max_keys().
struct KeyTable {
  KeySlot* slots;
  uint32_t capacity;
};

// How many keys a table may have: with more, to find out that a key is not there takes too long.
constexpr uint32_t max_keys(uint32_t capacity) noexcept { return capacity - capacity / 8; }

// The upper half is the first slot to search; the lower half is for other uses. By the last steps
// of splitmix64, of Sebastiano Vigna: keys are often consecutive numbers.
constexpr uint64_t hash_of_key(int64_t key) noexcept {
  auto hash = static_cast<uint64_t>(key);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return hash ^ (hash >> 31);
}

// The slot of a key; or the empty one that it belongs in. hash: hash_of_key(key).
inline KeySlot* find_slot(const KeyTable& table, int64_t key, uint64_t hash) noexcept {
  const uint32_t mask = table.capacity - 1;
  auto at = static_cast<uint32_t>(hash >> 32) & mask;
  while (!is_empty(table.slots[at]) && table.slots[at].key != key) at = (at + 1) & mask;
  return &table.slots[at];
}

// Copies a key, with its last number and generation, into an empty slot.
inline void copy_slot(const KeySlot& from, KeySlot* to) noexcept {
  to->key = from.key;
  to->last.store(from.last.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to->generation.store(from.generation.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

// Removes the key in a slot. Keys behind it that could not be in a slot of their own move up, one
// maybe into this slot: who goes through the table looks at it again. (Knuth, The Art of Computer
// Programming, volume 3, 6.4, algorithm R.)
inline void remove_slot(const KeyTable& table, uint32_t hole) noexcept {
  const uint32_t mask = table.capacity - 1;
  for (uint32_t at = (hole + 1) & mask; !is_empty(table.slots[at]); at = (at + 1) & mask) {
    const auto first = static_cast<uint32_t>(hash_of_key(table.slots[at].key) >> 32);
    // Whether the hole is on the way from the first slot to this one.
    if (((at - first) & mask) < ((at - hole) & mask)) continue;
    copy_slot(table.slots[at], &table.slots[hole]);
    hole = at;
  }
  table.slots[hole].generation.store(0, std::memory_order_relaxed);
}

// Copies all keys into an empty table that has room for them.
inline void copy_keys(const KeyTable& from, const KeyTable& to) noexcept {
  for (uint32_t at = 0; at < from.capacity; at++) {
    const KeySlot& slot = from.slots[at];
    if (!is_empty(slot)) copy_slot(slot, find_slot(to, slot.key, hash_of_key(slot.key)));
  }
}

}  // namespace snowid::core
