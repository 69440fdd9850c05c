// A hash table of numbers with open addressing and linear probing, in memory that the caller has:
// the keys of a section (see pg/counters/keyed_counter.cpp). A known key is in the first cache line
// read or the next one, unlike in a table of linked entries.
//
// Shared: the slots lie in memory that all processes see. The functions are for one process at a
// time, except find_slot() and note_use(), which any number of processes may call, and then change
// the `last` of the key that they have found. The caller's lock sees to that.
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

// Removes the keys for whose slots `leaves` returns true; the others move up to where they are
// found. Returns how many. It begins behind an empty slot, so that all slots from the first one in
// which a key is looked for up to its own come before it.
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

// Copies all keys into an empty table that has room for them.
inline void copy_keys(const KeyTable& from, const KeyTable& to) noexcept {
  for (uint32_t at = 0; at < from.capacity; at++) {
    const KeySlot& slot = from.slots[at];
    if (!is_empty(slot)) copy_slot(slot, find_slot(to, slot.key, hash_of_key(slot.key)));
  }
}

// Generations of use: in each so many keys are used. One word has the number of the current one,
// above how many keys were used in it, so that both advance at once. A section begins with
// generation 2; a key that was not used yet is of generation 1.
constexpr int kUseBits = 20;
constexpr uint64_t kFirstUses = uint64_t{2} << kUseBits;
constexpr uint64_t generation_of(uint64_t uses) noexcept { return uses >> kUseBits; }

// Notes that a key is used, in a generation of `most` keys: from 1 to 2^20 - 1. A key that was used
// while the generation ended may belong to that one, and not be counted.
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
