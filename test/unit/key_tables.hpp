// What the tests of core/section.hpp share: a key table in memory of exactly its size.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <ostream>
#include <vector>

#include "core/section.hpp"

namespace snowid::core::test {

class Table {
 public:
  // Of memory that holds something, as shared memory may.
  explicit Table(uint32_t capacity) : memory_(std::malloc(key_table_bytes(capacity)), std::free) {
    std::memset(memory_.get(), 0xa5, key_table_bytes(capacity));
    make_key_table(memory_.get(), capacity);
  }

  KeyTable* get() const { return static_cast<KeyTable*>(memory_.get()); }
  KeyTable* operator->() const { return get(); }

  // Every byte of it.
  std::vector<unsigned char> Bytes() const {
    const auto* bytes = static_cast<const unsigned char*>(memory_.get());
    return {bytes, bytes + key_table_bytes(get()->capacity)};
  }

 private:
  std::unique_ptr<void, decltype(&std::free)> memory_;
};

// A key and the last number given to it.
struct KeyLast {
  int64_t key;
  int64_t last;
  friend auto operator<=>(const KeyLast&, const KeyLast&) = default;
  friend std::ostream& operator<<(std::ostream& out, const KeyLast& its) {
    return out << its.key << " at " << its.last;
  }
};

// The places of a list's keys, the oldest first.
inline std::vector<uint32_t> PlacesOf(const Table& table, const KeyList& list) {
  std::vector<uint32_t> places;
  for (uint32_t at = list.oldest; at != kNoNode && places.size() <= table->count;
       at = table->nodes[at].newer)
    places.push_back(at);
  return places;
}

// All keys of a table, in the order of their numbers.
inline std::vector<KeyLast> KeysOf(const Table& table) {
  std::vector<KeyLast> keys;
  for (const KeyList* list : {&table->old, &table->previous, &table->current})
    for (const uint32_t at : PlacesOf(table, *list))
      keys.push_back({table->nodes[at].key.load(), table->nodes[at].last.load()});
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Gives a key its next number as sessions do: by draw_known() where that is enough. Where a
// generation is over the next one begins.
inline SectionStatus draw(const Table& table, int64_t* floor, int64_t key, int64_t limit,
                          bool may_evict, int64_t* number) {
  if (draw_known(table.get(), key, limit, number)) return SectionStatus::kOk;
  for (;;) {
    const SectionStatus status = next_of_key(table.get(), floor, key, limit, may_evict, number);
    if (status != SectionStatus::kOver) return status;
    end_generation(table.get());
  }
}

}  // namespace snowid::core::test
