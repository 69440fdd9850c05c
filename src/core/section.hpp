// A section: one counter for each of very many keys. Memory knows the most recently used ones. All
// keys share two numbers: the limit, which is durable, and which no key passes, as the users of a
// section of WeChat's seqsvr share one max_seq; and the floor, above which a key begins that memory
// does not know.
//
// Shared: a KeyTable lies in memory that all processes see, at any address, so it holds indexes and
// no pointers. Any number of processes may call draw_known() at the same time, and one may call
// next_of_key() beside them. All other functions are for one process while nobody draws, except
// that keys can be looked up while nobody else calls next_of_key(). The caller's locks see to that.
//
// Which key leaves: time is counted in generations. In each of them half as many keys are used as
// the table has room for; a key that is used again counts once. Each key has the generation in
// which it was last used, and the draw that is the first to store it counts the key as used. So a
// draw of a busy key writes nothing but the key's number. A key may leave if it was used neither in
// this generation nor in the one before; if all keys were, it may leave if it was not used in this
// one. From that follows the promise:
//
//   A key leaves only after more than half as many other keys as there is room for were used since
//   it was: N/2 + 1 of N, rounded down, with the one that takes its place.
//
// In the first case a generation has ended since. Its (N + 1)/2 keys were used later than this one,
// and were all there when it ended. So at most N/2 - 1 of those that are there now were not used
// since. In the second case at most (N + 1)/2 keys were last used in the generation before; the
// others, and the new one, were used later. A table that has grown promises no less. One that was
// made smaller promises it of keys that were used since.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "core/adapting_step.hpp"

namespace snowid::core {

// A key and the last number given to it. The next one in the list that it is in, and the next one
// with the same hash, are named by their places in the table.
struct KeyNode {
  std::atomic<int64_t> key;
  std::atomic<int64_t> last;
  std::atomic<uint64_t> generation;  // in which it was last used
  std::atomic<uint32_t> chain;
  uint32_t newer;
};
static_assert(sizeof(KeyNode) == 32);

// Keys in the order in which they were put there.
struct KeyList {
  uint32_t oldest;
  uint32_t newest;
};

// The nodes are followed by `capacity` uint32_t, the heads of the chains. A node and a head are 36
// bytes a key.
struct KeyTable {
  // Read by each draw.
  uint32_t capacity;  // keys there is room for
  std::atomic<uint64_t> generation;
  char apart[64 - 16];
  std::atomic<uint32_t> used;  // keys that were used in this generation
  uint32_t count;              // keys there are: the nodes from 0 on
  // Each key is in one of these. It may have been used since it was put there: then it belongs
  // into a later one, and is put there when it is found.
  KeyList current;   // used in this generation
  KeyList previous;  // in the one before, or later
  KeyList old;       // any time
  uint64_t evicted;  // keys that have left, or were left out when it was made
  char behind[64 - 40];
  KeyNode nodes[];
};
static_assert(sizeof(KeyTable) == 128);

inline constexpr uint32_t kNoNode = UINT32_MAX;

// In place of the last number of a key that is about to leave.
inline constexpr int64_t kLeaving = std::numeric_limits<int64_t>::max();

constexpr size_t key_table_bytes(uint32_t capacity) noexcept {
  return sizeof(KeyTable) + capacity * (sizeof(KeyNode) + sizeof(uint32_t));
}

// How many keys are used in a generation.
constexpr uint32_t generation_size(uint32_t capacity) noexcept { return capacity - capacity / 2; }

inline std::atomic<uint32_t>* key_table_heads(KeyTable* table) noexcept {
  return reinterpret_cast<std::atomic<uint32_t>*>(table->nodes + table->capacity);
}

// Makes a table without keys of key_table_bytes(capacity) bytes, aligned for an int64_t. capacity:
// at least 1.
inline KeyTable* make_key_table(void* memory, uint32_t capacity) noexcept {
  auto* table = static_cast<KeyTable*>(memory);
  table->capacity = capacity;
  table->count = 0;
  table->evicted = 0;
  table->generation.store(0, std::memory_order_relaxed);
  table->used.store(0, std::memory_order_relaxed);
  table->current = table->previous = table->old = {kNoNode, kNoNode};
  for (uint32_t i = 0; i < capacity; i++)
    key_table_heads(table)[i].store(kNoNode, std::memory_order_relaxed);
  return table;
}

// The head of the chain that a key belongs in. The mixing is splitmix64's, by Sebastiano Vigna:
// keys are often consecutive numbers.
inline std::atomic<uint32_t>* head_of(KeyTable* table, int64_t key) noexcept {
  uint64_t hash = static_cast<uint64_t>(key);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  return key_table_heads(table) + ((hash >> 32) * table->capacity >> 32);
}

// The place of a key, kNoNode where the table does not know it. Beside next_of_key() it may not
// find a key that is there, and the place may be another key's by now.
inline uint32_t find_key(KeyTable* table, int64_t key) noexcept {
  uint32_t at = head_of(table, key)->load(std::memory_order_acquire);
  while (at != kNoNode && table->nodes[at].key.load(std::memory_order_relaxed) != key)
    at = table->nodes[at].chain.load(std::memory_order_acquire);
  return at;
}

// The lists, and the chains.

inline void append(KeyTable* table, KeyList* list, uint32_t at) noexcept {
  table->nodes[at].newer = kNoNode;
  (list->oldest == kNoNode ? list->oldest : table->nodes[list->newest].newer) = at;
  list->newest = at;
}

// Takes the oldest key out of a list that is not empty.
inline uint32_t take_oldest(KeyTable* table, KeyList* list) noexcept {
  const uint32_t at = list->oldest;
  list->oldest = table->nodes[at].newer;
  return at;
}

// Moves all keys of one list to the end of another.
inline void join_parts(KeyTable* table, KeyList* to, KeyList* from) noexcept {
  if (from->oldest == kNoNode) return;
  (to->oldest == kNoNode ? to->oldest : table->nodes[to->newest].newer) = from->oldest;
  to->newest = from->newest;
  *from = {kNoNode, kNoNode};
}

inline void link_chain(KeyTable* table, uint32_t at) noexcept {
  KeyNode& node = table->nodes[at];
  std::atomic<uint32_t>* head = head_of(table, node.key.load(std::memory_order_relaxed));
  node.chain.store(head->load(std::memory_order_relaxed), std::memory_order_release);
  head->store(at, std::memory_order_release);
}

inline void unlink_chain(KeyTable* table, uint32_t at) noexcept {
  const KeyNode& node = table->nodes[at];
  std::atomic<uint32_t>* link = head_of(table, node.key.load(std::memory_order_relaxed));
  for (uint32_t next; (next = link->load(std::memory_order_relaxed)) != at;)
    link = &table->nodes[next].chain;
  link->store(node.chain.load(std::memory_order_relaxed), std::memory_order_release);
}

// Generations.

// Counts one key more as used in this generation. Returns false where it is over.
inline bool count_use(KeyTable* table) noexcept {
  if (table->used.fetch_add(1, std::memory_order_relaxed) < generation_size(table->capacity))
    return true;
  table->used.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

// Notes that a key, which was counted, was used in this generation.
inline void note_counted(KeyTable* table, KeyNode* node) noexcept {
  const uint64_t now = table->generation.load(std::memory_order_relaxed);
  // Another session may have counted it, too.
  if (node->generation.exchange(now, std::memory_order_relaxed) == now)
    table->used.fetch_sub(1, std::memory_order_relaxed);
}

// Notes that a key is used in this generation. Returns false where it is over.
inline bool note_use(KeyTable* table, KeyNode* node) noexcept {
  if (node->generation.load(std::memory_order_relaxed) ==
      table->generation.load(std::memory_order_relaxed))
    return true;
  if (!count_use(table)) return false;
  note_counted(table, node);
  return true;
}

// Begins another generation.
inline void begin_generation(KeyTable* table) noexcept {
  join_parts(table, &table->old, &table->previous);
  join_parts(table, &table->previous, &table->current);
  table->generation.store(table->generation.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
  table->used.store(0, std::memory_order_relaxed);
}

// Begins another one where this is over: as many keys are used as belong to it.
inline void end_generation(KeyTable* table) noexcept {
  if (table->used.load(std::memory_order_relaxed) >= generation_size(table->capacity))
    begin_generation(table);
}

// How many generations ago a key was used.
inline uint64_t age_of(const KeyTable* table, uint32_t at) noexcept {
  return table->generation.load(std::memory_order_relaxed) -
         table->nodes[at].generation.load(std::memory_order_relaxed);
}

// The list that a key belongs into.
inline KeyList* list_of(KeyTable* table, uint32_t at) noexcept {
  const uint64_t age = age_of(table, at);
  return age == 0 ? &table->current : age == 1 ? &table->previous : &table->old;
}

// Finds the key that is to leave, at the beginning of the list that it belongs into. The table is
// not empty, and fewer keys were used in this generation than there are.
inline KeyList* find_leaving(KeyTable* table) noexcept {
  for (;;) {
    KeyList* list = table->old.oldest != kNoNode ? &table->old : &table->previous;
    KeyList* its = list_of(table, list->oldest);
    if (its == list) return list;
    const uint32_t at = take_oldest(table, list);
    append(table, its, at);
  }
}

// How many increments to raise the limit by after it was raised by `increments`, which lasted for
// so many microseconds, see adapted_step(): they should last for a tenth of a second at least, so
// that sessions that draw much do not wait for the disk, and for one second at most.
constexpr uint64_t adapted_increments(uint64_t increments, uint64_t increment,
                                      int64_t lasted_us) noexcept {
  constexpr int64_t kSecondUs = 1'000'000;
  return adapted_step(increments, increment, lasted_us, {kSecondUs / 10, kSecondUs});
}

enum class SectionStatus : uint8_t {
  kOk,
  kAtLimit,  // the key's next number is above the limit; nothing has changed
  kNoRoom,   // the key is new and the table full; nothing has changed
  kOver,     // the generation is over, see end_generation(); nothing has changed
};

// Gives the key at a place its next number. Returns kNoRoom where the place is another key's.
inline SectionStatus draw_at(KeyTable* table, uint32_t at, int64_t key, int64_t limit,
                             int64_t* number) noexcept {
  KeyNode& node = table->nodes[at];
  int64_t last = node.last.load(std::memory_order_acquire);
  if (last >= limit) return SectionStatus::kAtLimit;
  // Before the number is taken, so that a process that evicts this key either sees the use, or has
  // stored kLeaving before.
  if (!note_use(table, &node)) return SectionStatus::kOver;
  do {
    // After `last`: a place that another key has been given says so before it holds its number.
    if (node.key.load(std::memory_order_relaxed) != key) return SectionStatus::kNoRoom;
    if (last >= limit) return SectionStatus::kAtLimit;
    // Another key's number is above all that were there before, so what was read of this key's
    // cannot be there again.
  } while (!node.last.compare_exchange_weak(last, last + 1, std::memory_order_acq_rel,
                                            std::memory_order_acquire));
  *number = last + 1;
  return SectionStatus::kOk;
}

// Gives a key its next number, one above its last. Returns false, with nothing changed, where that
// is not possible: then next_of_key() returns the reason.
inline bool draw_known(KeyTable* table, int64_t key, int64_t limit, int64_t* number) noexcept {
  const uint32_t at = find_key(table, key);
  return at != kNoNode && draw_at(table, at, key, limit, number) == SectionStatus::kOk;
}

// Puts a key that the table does not know at a place that is in no chain.
inline void put_key(KeyTable* table, uint32_t at, int64_t key, int64_t last) noexcept {
  table->nodes[at].key.store(key, std::memory_order_relaxed);
  table->nodes[at].last.store(last, std::memory_order_release);
  link_chain(table, at);
}

// Adds a key that the table does not know, and has room for.
inline void add_key(KeyTable* table, int64_t key, int64_t last, uint64_t generation) noexcept {
  const uint32_t at = table->count++;
  table->nodes[at].generation.store(generation, std::memory_order_relaxed);
  put_key(table, at, key, last);
  append(table, list_of(table, at), at);
}

// Evicts the key at the beginning of a list. Returns false, with nothing changed, where it is being
// used at this moment.
inline bool try_to_leave(KeyTable* table, KeyList* list) noexcept {
  const uint32_t at = list->oldest;
  std::atomic<int64_t>& last = table->nodes[at].last;
  // A draw from now on finds kLeaving here; one that came before has noted the use.
  const int64_t left = last.exchange(kLeaving, std::memory_order_acq_rel);
  if (list_of(table, at) == list) return true;
  last.store(left, std::memory_order_release);
  return false;
}

// Gives the place of a key that leaves to a new one, which was counted. The new key begins above
// the last number of the one that left, see draw_at().
inline SectionStatus replace_key(KeyTable* table, int64_t* floor, int64_t key, int64_t limit,
                                 int64_t* number) noexcept {
  KeyList* list;
  int64_t raised;
  do {
    list = find_leaving(table);
    raised = std::max(*floor, table->nodes[list->oldest].last.load(std::memory_order_relaxed));
    if (raised >= limit) return SectionStatus::kAtLimit;
  } while (!try_to_leave(table, list));
  const uint32_t at = take_oldest(table, list);
  unlink_chain(table, at);
  table->evicted++;
  note_counted(table, &table->nodes[at]);
  *floor = raised;
  *number = raised + 1;
  put_key(table, at, key, *number);
  append(table, &table->current, at);
  return SectionStatus::kOk;
}

// Gives a new key its first number.
inline SectionStatus begin_key(KeyTable* table, int64_t* floor, int64_t key, int64_t limit,
                               bool may_evict, int64_t* number) noexcept {
  if (*floor >= limit) return SectionStatus::kAtLimit;
  const bool is_full = table->count == table->capacity;
  if (is_full && !may_evict) return SectionStatus::kNoRoom;
  if (!count_use(table)) return SectionStatus::kOver;
  if (is_full) {
    const SectionStatus status = replace_key(table, floor, key, limit, number);
    if (status != SectionStatus::kOk) table->used.fetch_sub(1, std::memory_order_relaxed);
    return status;
  }
  *number = *floor + 1;
  add_key(table, key, *number, table->generation.load(std::memory_order_relaxed));
  return SectionStatus::kOk;
}

// Gives a key its next number: one above its last, or above the floor where the table does not know
// the key. may_evict: whether, where the table is full, another key leaves; then the floor is first
// raised to that one's last number. *floor: no number above it was given to a key that the table
// does not know.
inline SectionStatus next_of_key(KeyTable* table, int64_t* floor, int64_t key, int64_t limit,
                                 bool may_evict, int64_t* number) noexcept {
  const uint32_t at = find_key(table, key);
  return at == kNoNode ? begin_key(table, floor, key, limit, may_evict, number)
                       : draw_at(table, at, key, limit, number);
}

// Puts each key into the list that it belongs into.
inline void sort_keys(KeyTable* table) noexcept {
  for (KeyList* list : {&table->old, &table->previous}) {
    const KeyList all = *list;
    *list = {kNoNode, kNoNode};
    for (uint32_t at = all.oldest, newer; at != kNoNode; at = newer) {
      newer = table->nodes[at].newer;
      append(table, list_of(table, at), at);
    }
  }
}

// Copies `most` keys of a table, about those most recently used, into one that has none, and has
// room for them. Returns the greatest last number of those that were left out, or the least
// int64_t.
inline int64_t copy_keys(KeyTable* from, KeyTable* to, uint32_t most) noexcept {
  int64_t left_out = std::numeric_limits<int64_t>::min();
  uint32_t skip = from->count - std::min(from->count, most);
  to->generation.store(from->generation.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to->used.store(from->used.load(std::memory_order_relaxed), std::memory_order_relaxed);
  to->evicted += skip;
  sort_keys(from);
  for (const KeyList* list : {&from->old, &from->previous, &from->current}) {
    for (uint32_t at = list->oldest; at != kNoNode; at = from->nodes[at].newer) {
      const KeyNode& node = from->nodes[at];
      const int64_t last = node.last.load(std::memory_order_relaxed);
      if (skip > 0) {
        skip--;
        left_out = std::max(left_out, last);
      } else {
        add_key(to, node.key.load(std::memory_order_relaxed), last,
                node.generation.load(std::memory_order_relaxed));
      }
    }
  }
  // Of those that were used in this generation there may be more than belong to one.
  if (to->capacity < from->capacity) begin_generation(to);
  return left_out;
}

}  // namespace snowid::core
