// Tests of core/section.hpp in one thread: what each call does to keys, floor and order, how large
// the table is, and how long its chains grow.
#include "core/section.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "key_tables.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

using Keys = std::vector<KeyLast>;

constexpr int64_t kNone = -1;  // where no number came

// Gives a key its next number, which there is.
int64_t Next(const Table& table, SectionState* state, int64_t key) {
  int64_t number = kNone;
  EXPECT_EQ(NextOfKey(table.get(), state, key, INT64_MAX, true, &number), SectionStatus::kOk);
  return number;
}

// Expects a refusal that changes nothing.
void ExpectRefused(const Table& table, SectionState* state, int64_t key, int64_t limit,
                   bool may_evict, SectionStatus status) {
  const auto bytes = table.Bytes();
  const SectionState before = *state;
  int64_t number = kNone;
  EXPECT_EQ(NextOfKey(table.get(), state, key, limit, may_evict, &number), status);
  EXPECT_EQ(number, kNone);
  EXPECT_EQ(table.Bytes(), bytes);
  EXPECT_EQ(state->floor, before.floor);
  EXPECT_EQ(state->highest, before.highest);
}

TEST(MakeKeyTable, KnowsNoKey) {
  const Table table(3);
  EXPECT_EQ(table->capacity, 3u);
  EXPECT_EQ(table->count, 0u);
  EXPECT_EQ(KeysOf(table), Keys{});
  EXPECT_EQ(KeysFromOldest(table), Keys{});
  for (int64_t key = -100; key < 100; key++) EXPECT_EQ(FindKey(table.get(), key), kNoNode);
}

TEST(ClearKeys, ForgetsAllKeys) {
  const Table table(3);
  SectionState state{};
  for (int64_t key = 1; key <= 3; key++) Next(table, &state, key);
  ClearKeys(table.get());
  EXPECT_EQ(table->capacity, 3u);
  EXPECT_EQ(table->count, 0u);
  EXPECT_EQ(KeysOf(table), Keys{});
  EXPECT_EQ(KeysFromOldest(table), Keys{});
  for (int64_t key = 1; key <= 3; key++) EXPECT_EQ(FindKey(table.get(), key), kNoNode);
  state.floor = 10;
  for (int64_t key = 1; key <= 3; key++) EXPECT_EQ(Next(table, &state, key), 11);
}

TEST(NextOfKey, CountsForEachKeyByItself) {
  const Table table(3);
  SectionState state{};
  EXPECT_EQ(Next(table, &state, 7), 1);
  EXPECT_EQ(Next(table, &state, 7), 2);
  EXPECT_EQ(Next(table, &state, 8), 1);
  EXPECT_EQ(Next(table, &state, 7), 3);
  EXPECT_EQ(Next(table, &state, -9), 1);
  EXPECT_EQ(Next(table, &state, 8), 2);
  EXPECT_EQ(state.floor, 0);
  EXPECT_EQ(state.highest, 3);
  EXPECT_EQ(KeysOf(table), (Keys{{8, 2}, {-9, 1}, {7, 3}}));
  EXPECT_EQ(KeysFromOldest(table), (Keys{{7, 3}, {-9, 1}, {8, 2}}));
}

TEST(NextOfKey, BeginsAboveTheFloor) {
  const Table table(3);
  SectionState state{100, 200};
  EXPECT_EQ(Next(table, &state, 7), 101);
  EXPECT_EQ(state.highest, 200);
  state.floor = 150;
  EXPECT_EQ(Next(table, &state, 7), 102);
  EXPECT_EQ(Next(table, &state, 8), 151);
  EXPECT_EQ(state.floor, 150);
}

TEST(NextOfKey, TheLongestUnusedKeyLeavesAndRaisesTheFloor) {
  const Table table(2);
  SectionState state{};
  for (int i = 0; i < 5; i++) Next(table, &state, 1);
  Next(table, &state, 2);
  EXPECT_EQ(Next(table, &state, 3), 1);
  EXPECT_EQ(state.floor, 5);
  EXPECT_EQ(KeysOf(table), (Keys{{3, 1}, {2, 1}}));
  // Key 2 leaves, whose number is below the floor.
  EXPECT_EQ(Next(table, &state, 1), 6);
  EXPECT_EQ(state.floor, 5);
  EXPECT_EQ(KeysOf(table), (Keys{{1, 6}, {3, 1}}));
  // Used again, key 3 stays and key 1 leaves.
  EXPECT_EQ(Next(table, &state, 3), 2);
  EXPECT_EQ(Next(table, &state, 2), 6);
  EXPECT_EQ(state.floor, 6);
  EXPECT_EQ(KeysOf(table), (Keys{{2, 6}, {3, 2}}));
  EXPECT_EQ(state.highest, 6);
}

TEST(NextOfKey, RoomForOneKeyIsRoom) {
  const Table table(1);
  SectionState state{};
  for (int64_t i = 1; i <= 100; i++) {
    // Two keys in turn: each leaves for the other, and comes back above where it was.
    EXPECT_EQ(Next(table, &state, i % 2), (i + 1) / 2);
    EXPECT_EQ(state.floor, i / 2);
    EXPECT_EQ(KeysOf(table), (Keys{{i % 2, (i + 1) / 2}}));
    EXPECT_EQ(KeysFromOldest(table), KeysOf(table));
  }
}

TEST(NextOfKey, AtTheLimitNothingChanges) {
  const Table table(2);
  SectionState state{0, 3};
  int64_t number = kNone;
  ExpectRefused(table, &state, 1, 0, true, SectionStatus::kAtLimit);
  ExpectRefused(table, &state, 1, -1, true, SectionStatus::kAtLimit);
  EXPECT_EQ(NextOfKey(table.get(), &state, 1, 1, false, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 1);
  ExpectRefused(table, &state, 1, 1, true, SectionStatus::kAtLimit);
  ExpectRefused(table, &state, 1, 0, true, SectionStatus::kAtLimit);
  EXPECT_EQ(NextOfKey(table.get(), &state, 1, 2, false, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(NextOfKey(table.get(), &state, 2, 1, false, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 1);
  // Key 1 is the longest-unused, at its limit or not; nor does it leave for one that is at its own.
  ExpectRefused(table, &state, 1, 2, true, SectionStatus::kAtLimit);
  ExpectRefused(table, &state, 3, 0, true, SectionStatus::kAtLimit);
  state.floor = 9;
  ExpectRefused(table, &state, 3, 9, true, SectionStatus::kAtLimit);
  EXPECT_EQ(NextOfKey(table.get(), &state, 1, 9, true, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 3);
}

TEST(NextOfKey, WithoutRoomNothingChanges) {
  for (const uint32_t capacity : {1u, 2u, 7u}) {
    const Table table(capacity);
    SectionState state{5, 5};
    for (uint32_t key = 0; key < capacity; key++) {
      int64_t number = kNone;
      EXPECT_EQ(NextOfKey(table.get(), &state, key, 100, false, &number), SectionStatus::kOk);
      EXPECT_EQ(number, 6);
    }
    ExpectRefused(table, &state, capacity, 100, false, SectionStatus::kNoRoom);
    ExpectRefused(table, &state, INT64_MIN, 6, false, SectionStatus::kNoRoom);
    int64_t number = kNone;
    EXPECT_EQ(NextOfKey(table.get(), &state, 0, 100, false, &number), SectionStatus::kOk);
    EXPECT_EQ(number, 7);
  }
}

TEST(NextOfKey, KeysAndNumbersMayBeAnyInt64) {
  const Table table(5);
  SectionState state{INT64_MIN, INT64_MIN};
  for (int round = 1; round <= 3; round++)
    for (const int64_t key : {INT64_MIN, INT64_MIN + 1, int64_t{0}, INT64_MAX - 1, INT64_MAX})
      EXPECT_EQ(Next(table, &state, key), INT64_MIN + round);
  EXPECT_EQ(table->count, 5u);
  EXPECT_EQ(state.highest, INT64_MIN + 3);
  state.floor = INT64_MAX - 1;
  EXPECT_EQ(Next(table, &state, 77), INT64_MAX);
  EXPECT_EQ(state.highest, INT64_MAX);
  ExpectRefused(table, &state, 77, INT64_MAX, true, SectionStatus::kAtLimit);
  state.floor = INT64_MAX;
  ExpectRefused(table, &state, 78, INT64_MAX, true, SectionStatus::kAtLimit);
}

TEST(CopyKeys, KeepsTheMostRecentlyUsedInTheirOrder) {
  const Table from(7);
  SectionState state{};
  for (const int64_t key : {5, 5, 5, 5, 1, 2, 2, 3, 4, 1, 1, 5}) Next(from, &state, key);
  const Keys keys = KeysOf(from);
  EXPECT_EQ(keys, (Keys{{5, 5}, {1, 3}, {4, 1}, {3, 1}, {2, 2}}));
  const auto bytes = from.Bytes();
  constexpr int64_t kLeftOut[] = {5, 3, 2, 2, 2, INT64_MIN, INT64_MIN, INT64_MIN};
  for (uint32_t most = 0; most < std::size(kLeftOut); most++) {
    const uint32_t kept = std::min(most, 5u);
    for (const uint32_t capacity : {std::max(kept, 1u), kept + 1, 100u}) {
      const Table to(capacity);
      EXPECT_EQ(CopyKeys(from.get(), to.get(), most), kLeftOut[most]);
      EXPECT_EQ(to->count, kept);
      EXPECT_EQ(to->capacity, capacity);
      EXPECT_EQ(KeysOf(to), Keys(keys.begin(), keys.begin() + kept));
      Keys from_oldest = KeysFromOldest(to);
      std::reverse(from_oldest.begin(), from_oldest.end());
      EXPECT_EQ(from_oldest, KeysOf(to));
      for (uint32_t i = 0; i < 5; i++)
        EXPECT_EQ(FindKey(to.get(), keys[i].key) != kNoNode, i < kept);
    }
  }
  EXPECT_EQ(from.Bytes(), bytes);
}

TEST(CopyKeys, OfNoneAreNone) {
  const Table from(3);
  const Table to(3);
  EXPECT_EQ(CopyKeys(from.get(), to.get(), 3), INT64_MIN);
  EXPECT_EQ(KeysOf(to), Keys{});
}

// The greatest that is left out, also where all numbers are negative.
TEST(CopyKeys, TellsTheGreatestNumberThatIsLeftOut) {
  Random random(1);
  for (int i = 0; i < 1000; i++) {
    const Table from(10);
    std::vector<int64_t> lasts;
    for (int64_t key = 0; key < 10; key++) {
      lasts.push_back(random.In(-1000, -1));
      AddKey(from.get(), key, lasts.back());
    }
    const auto most = static_cast<uint32_t>(random.Below(10));
    const Table to(10);
    EXPECT_EQ(CopyKeys(from.get(), to.get(), most),
              *std::max_element(lasts.begin(), lasts.end() - most));
  }
}

TEST(KeyTableBytes, Are64AKeyAtMost) {
  for (uint64_t keys = 1; keys < 200'000'000; keys += 1 + keys / 3) {
    EXPECT_LE(KeyTableBytes(static_cast<uint32_t>(keys)), 64 * keys);
    // Grown by half when it was full.
    if (keys == 1) continue;
    EXPECT_LE(KeyTableBytes(static_cast<uint32_t>(keys + keys / 2)), 64 * keys);
  }
  EXPECT_GE(KeyTableBytes(UINT32_MAX - 1), 36 * (uint64_t{UINT32_MAX} - 1));
}

// The most keys of one chain.
uint32_t LongestChain(const Table& table) {
  uint32_t longest = 0;
  const uint32_t* heads = KeyTableHeads(table.get());
  for (uint32_t i = 0; i < table->capacity; i++) {
    uint32_t length = 0;
    for (uint32_t at = heads[i]; at != kNoNode; at = table->nodes[at].chain) length++;
    longest = std::max(longest, length);
  }
  return longest;
}

// Of as many random keys as chains, the longest has 8 or 9.
TEST(HeadOf, ChainsOfRegularKeysAreAsShortAsOfRandomOnes) {
  constexpr uint32_t kKeys = 100'000;
  std::vector<uint64_t> steps{1, 3, 10, 1000, 1'000'000, 1'000'003, 0x9e3779b97f4a7c15};
  for (int bit = 2; bit <= 47; bit += 2) steps.push_back(uint64_t{1} << bit);
  for (const uint64_t step : steps) {
    const uint64_t starts[] = {0, uint64_t{1} << 63, INT64_MAX - kKeys, UINT64_MAX - kKeys / 2,
                               1'234'567'890'123};
    for (const uint64_t start : starts) {
      if (start != 0 && step > 1) continue;
      const Table table(kKeys);
      for (uint64_t i = 0; i < kKeys; i++)
        AddKey(table.get(), static_cast<int64_t>(start + i * step), 0);
      EXPECT_LE(LongestChain(table), 12u) << "from " << start << " by " << step;
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
