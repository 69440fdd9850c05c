// What the tests of core/section.hpp share: a key table in memory of exactly its size.
#pragma once

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
  explicit Table(uint32_t capacity) : memory_(std::malloc(KeyTableBytes(capacity)), std::free) {
    std::memset(memory_.get(), 0xa5, KeyTableBytes(capacity));
    MakeKeyTable(memory_.get(), capacity);
  }

  KeyTable* get() const { return static_cast<KeyTable*>(memory_.get()); }
  KeyTable* operator->() const { return get(); }

  // Every byte of it.
  std::vector<unsigned char> Bytes() const {
    const auto* bytes = static_cast<const unsigned char*>(memory_.get());
    return {bytes, bytes + KeyTableBytes(get()->capacity)};
  }

 private:
  std::unique_ptr<void, decltype(&std::free)> memory_;
};

// A key and the last number given to it.
struct KeyLast {
  int64_t key;
  int64_t last;
  friend bool operator==(const KeyLast&, const KeyLast&) = default;
  friend std::ostream& operator<<(std::ostream& out, const KeyLast& its) {
    return out << its.key << " at " << its.last;
  }
};

// All keys of a table, the most recently used first.
inline std::vector<KeyLast> KeysOf(const Table& table) {
  std::vector<KeyLast> keys;
  for (uint32_t at = table->newest; at != kNoNode && keys.size() <= table->count;
       at = table->nodes[at].older)
    keys.push_back({table->nodes[at].key, table->nodes[at].last});
  return keys;
}

// The same keys by the list's other direction, from the longest-unused on.
inline std::vector<KeyLast> KeysFromOldest(const Table& table) {
  std::vector<KeyLast> keys;
  for (uint32_t at = table->oldest; at != kNoNode && keys.size() <= table->count;
       at = table->nodes[at].newer)
    keys.push_back({table->nodes[at].key, table->nodes[at].last});
  return keys;
}

}  // namespace snowid::core::test
