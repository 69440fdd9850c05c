// Tests of core/key_table.hpp against a map: keys that are added, changed and removed at random,
// and tables that grow, with keys that begin in the same slots.
#include "core/key_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "random.hpp"

namespace snowid::core::test {
namespace {

class Keys {
 public:
  explicit Keys(uint32_t capacity) : slots_(capacity), table_{slots_.data(), capacity} {}

  KeySlot* Find(int64_t key) const { return find_slot(table_, key, hash_of_key(key)); }

  void Add(int64_t key, int64_t last) {
    if (last_.size() >= max_keys(table_.capacity)) Grow();
    KeySlot* slot = Find(key);
    slot->key = key;
    slot->last.store(last);
    slot->generation.store(1 + static_cast<uint64_t>(last));
    last_[key] = last;
  }

  // Removes the keys with last numbers below this one, as a section does.
  void RemoveBelow(int64_t last) {
    const uint32_t removed =
        remove_keys_if(table_, [last](const KeySlot& slot) { return slot.last.load() < last; });
    EXPECT_EQ(removed, std::erase_if(last_, [last](const auto& key) { return key.second < last; }));
  }

  // Whether it has all keys, with what was stored, and no others.
  void Check() const {
    for (const auto& [key, last] : last_) {
      const KeySlot* slot = Find(key);
      ASSERT_FALSE(is_empty(*slot)) << key;
      ASSERT_EQ(slot->key, key);
      ASSERT_EQ(slot->last.load(), last);
      ASSERT_EQ(slot->generation.load(), 1 + static_cast<uint64_t>(last));
    }
    size_t count = 0;
    for (const KeySlot& slot : slots_) count += is_empty(slot) ? 0 : 1;
    ASSERT_EQ(count, last_.size());
  }

 private:
  void Grow() {
    std::vector<KeySlot> slots(2 * slots_.size());
    const KeyTable larger{slots.data(), 2 * table_.capacity};
    copy_keys(table_, larger);
    slots_.swap(slots);
    table_ = larger;
  }

  std::vector<KeySlot> slots_;
  KeyTable table_;
  std::map<int64_t, int64_t> last_;
};

TEST(KeyTable, HasWhatAMapHas) {
  for (uint64_t seed = 1; seed <= 300; seed++) {
    Random random(seed);
    Keys keys(8);
    const uint64_t most = 1 + random.Below(300);
    int64_t last = 0;
    for (int step = 0; step < 400; step++) {
      keys.Add(random.In(-static_cast<int64_t>(most), static_cast<int64_t>(most)), ++last);
      if (random.Below(20) != 0) continue;
      keys.RemoveBelow(last - static_cast<int64_t>(random.Below(most)));
      keys.Check();
      if (HasFatalFailure()) FAIL() << "seed " << seed;
    }
    keys.Check();
    keys.RemoveBelow(last + 1);
    keys.Check();
  }
}

TEST(KeyTable, RemovesFromARunThatGoesAroundTheEnd) {
  // All begin in the last slot of eight.
  std::vector<int64_t> same;
  for (int64_t key = 0; same.size() < 7; key++)
    if ((hash_of_key(key) >> 32 & 7) == 7) same.push_back(key);
  for (int64_t below = 0; below <= 7; below++) {
    Keys keys(8);
    for (int64_t i = 0; i < 7; i++) keys.Add(same[static_cast<size_t>(i)], (i * 3) % 7);
    keys.RemoveBelow(below);
    keys.Check();
  }
}

TEST(KeyTable, KeepsASlotEmpty) {
  for (uint32_t capacity = 8; capacity <= 1u << 20; capacity *= 2)
    EXPECT_LT(max_keys(capacity), capacity);
}

TEST(KeyTable, SpreadsNumbersThatFollowOneAnother) {
  std::vector<int> first(1024);
  std::vector<int> low(16);
  for (int64_t key = 0; key < 10240; key++) {
    first[hash_of_key(key) >> 32 & 1023]++;
    low[hash_of_key(key) & 15]++;
  }
  for (const int count : first) EXPECT_LT(count, 30);
  for (const int count : low) EXPECT_NEAR(count, 640, 100);
}

TEST(NoteUse, EndsAGenerationWithTheLastOfItsKeys) {
  std::vector<KeySlot> keys(5);
  for (KeySlot& key : keys) key.generation.store(1);
  std::atomic<uint64_t> uses{kFirstUses};
  const auto use = [&](size_t key, uint64_t generation) {
    note_use(&uses, &keys[key], 3);
    EXPECT_EQ(generation_of(uses.load()), generation);
  };
  use(0, 2);
  use(1, 2);
  use(0, 2);
  use(1, 2);
  use(2, 3);
  EXPECT_EQ(keys[2].generation.load(), 2u);
  use(0, 3);
  EXPECT_EQ(keys[0].generation.load(), 3u);
  use(3, 3);
  use(4, 4);
  EXPECT_EQ(keys[1].generation.load(), 2u);
  // The bound may have become smaller.
  use(0, 4);
  use(1, 4);
  note_use(&uses, &keys[2], 1);
  EXPECT_EQ(generation_of(uses.load()), 5u);
  // A key never goes back.
  keys[3].generation.store(7);
  use(3, 5);
  EXPECT_EQ(keys[3].generation.load(), 7u);
}

}  // namespace
}  // namespace snowid::core::test
