// Tests of core/section.hpp in one thread: what each call does to keys, floor and generations, how
// large the table is, and how long its chains grow.
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
int64_t Next(const Table& table, int64_t* floor, int64_t key) {
  int64_t number = kNone;
  EXPECT_EQ(draw(table, floor, key, INT64_MAX, true, &number), SectionStatus::kOk);
  return number;
}

// Expects a refusal that changes nothing.
void ExpectRefused(const Table& table, int64_t* floor, int64_t key, int64_t limit, bool may_evict,
                   SectionStatus status) {
  const auto bytes = table.Bytes();
  const int64_t before = *floor;
  int64_t number = kNone;
  EXPECT_EQ(next_of_key(table.get(), floor, key, limit, may_evict, &number), status);
  EXPECT_FALSE(draw_known(table.get(), key, limit, &number));
  EXPECT_EQ(number, kNone);
  EXPECT_EQ(table.Bytes(), bytes);
  EXPECT_EQ(*floor, before);
}

// Expects that nothing changes, since the generation is over.
void ExpectOver(const Table& table, int64_t* floor, int64_t key) {
  ExpectRefused(table, floor, key, INT64_MAX, true, SectionStatus::kOver);
}

TEST(MakeKeyTable, KnowsNoKey) {
  const Table table(3);
  int64_t number = kNone;
  EXPECT_EQ(table->capacity, 3u);
  EXPECT_EQ(table->count, 0u);
  EXPECT_EQ(KeysOf(table), Keys{});
  for (int64_t key = -100; key < 100; key++) {
    EXPECT_EQ(find_key(table.get(), key), kNoNode);
    EXPECT_FALSE(draw_known(table.get(), key, INT64_MAX, &number));
  }
  EXPECT_EQ(number, kNone);
}

TEST(NextOfKey, CountsForEachKeyByItself) {
  const Table table(3);
  int64_t floor = 0;
  EXPECT_EQ(Next(table, &floor, 7), 1);
  EXPECT_EQ(Next(table, &floor, 7), 2);
  EXPECT_EQ(Next(table, &floor, 8), 1);
  EXPECT_EQ(Next(table, &floor, 7), 3);
  EXPECT_EQ(Next(table, &floor, -9), 1);
  EXPECT_EQ(Next(table, &floor, 8), 2);
  EXPECT_EQ(floor, 0);
  EXPECT_EQ(KeysOf(table), (Keys{{-9, 1}, {7, 3}, {8, 2}}));
}

TEST(NextOfKey, BeginsAboveTheFloor) {
  const Table table(3);
  int64_t floor = 100;
  EXPECT_EQ(Next(table, &floor, 7), 101);
  floor = 150;
  EXPECT_EQ(Next(table, &floor, 7), 102);
  EXPECT_EQ(Next(table, &floor, 8), 151);
  EXPECT_EQ(floor, 150);
}

TEST(NextOfKey, AKeyThatLeavesRaisesTheFloor) {
  const Table table(2);
  int64_t floor = 0;
  for (int i = 0; i < 5; i++) Next(table, &floor, 1);
  Next(table, &floor, 2);
  EXPECT_EQ(Next(table, &floor, 3), 6);
  EXPECT_EQ(floor, 5);
  EXPECT_EQ(KeysOf(table), (Keys{{2, 1}, {3, 6}}));
  // Key 2 leaves, whose number is below the floor.
  EXPECT_EQ(Next(table, &floor, 1), 6);
  EXPECT_EQ(floor, 5);
  EXPECT_EQ(KeysOf(table), (Keys{{1, 6}, {3, 6}}));
  // Used again, key 3 stays and key 1 leaves.
  EXPECT_EQ(Next(table, &floor, 3), 7);
  EXPECT_EQ(Next(table, &floor, 2), 7);
  EXPECT_EQ(floor, 6);
  EXPECT_EQ(KeysOf(table), (Keys{{2, 7}, {3, 7}}));
}

TEST(NextOfKey, RoomForOneKeyIsRoom) {
  const Table table(1);
  int64_t floor = 0;
  for (int64_t i = 1; i <= 100; i++) {
    // Two keys in turn: each leaves for the other, and comes back above where that was.
    EXPECT_EQ(Next(table, &floor, i % 2), i);
    EXPECT_EQ(floor, i - 1);
    EXPECT_EQ(KeysOf(table), (Keys{{i % 2, i}}));
  }
}

// The key that is drawn from all the time is not written to but for its number.
TEST(DrawKnown, OfAKeyThatIsMuchUsedChangesTheNumberAlone) {
  const Table table(10);
  int64_t floor = 0;
  for (int64_t key = 0; key < 10; key++) Next(table, &floor, key);
  Next(table, &floor, 3);
  KeyNode& node = table->nodes[find_key(table.get(), 3)];
  const auto before = table.Bytes();
  for (int64_t i = 3; i <= 100; i++) {
    int64_t number = kNone;
    EXPECT_TRUE(draw_known(table.get(), 3, INT64_MAX, &number));
    EXPECT_EQ(number, i);
  }
  node.last.store(2);
  EXPECT_EQ(table.Bytes(), before);
}

// Of 10 keys 5 are used in a generation, and what would be the sixth begins another.
TEST(EndGeneration, ComesWithEachHalfOfTheRoom) {
  const Table table(10);
  int64_t floor = 0;
  int64_t number = kNone;
  for (int64_t key = 0; key < 10; key++) Next(table, &floor, key);
  EXPECT_EQ(table->generation, 1u);
  EXPECT_EQ(table->used, 5u);
  for (int64_t key = 5; key < 10; key++)
    EXPECT_TRUE(draw_known(table.get(), key, INT64_MAX, &number));
  ExpectOver(table, &floor, 0);
  ExpectOver(table, &floor, 77);
  EXPECT_EQ(table->generation, 1u);
  end_generation(table.get());
  EXPECT_EQ(table->generation, 2u);
  EXPECT_EQ(table->used, 0u);
  end_generation(table.get());
  EXPECT_EQ(table->generation, 2u);
  // Which leave then: those of the generation before the last, in turn, but not key 1.
  EXPECT_TRUE(draw_known(table.get(), 1, INT64_MAX, &number));
  for (const int64_t leaves : {0, 2, 3, 4}) {
    EXPECT_NE(find_key(table.get(), leaves), kNoNode);
    Next(table, &floor, 100 + leaves);
    EXPECT_EQ(find_key(table.get(), leaves), kNoNode);
  }
  for (const int64_t stays : {1, 5, 6, 7, 8, 9, 100, 102, 103, 104})
    EXPECT_NE(find_key(table.get(), stays), kNoNode);
}

TEST(NextOfKey, AtTheLimitNothingChanges) {
  const Table table(2);
  int64_t floor = 0;
  int64_t number = kNone;
  ExpectRefused(table, &floor, 1, 0, true, SectionStatus::kAtLimit);
  ExpectRefused(table, &floor, 1, -1, true, SectionStatus::kAtLimit);
  EXPECT_EQ(draw(table, &floor, 1, 1, false, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 1);
  ExpectRefused(table, &floor, 1, 1, true, SectionStatus::kAtLimit);
  ExpectRefused(table, &floor, 1, 0, true, SectionStatus::kAtLimit);
  EXPECT_EQ(draw(table, &floor, 1, 2, false, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 2);
  EXPECT_EQ(draw(table, &floor, 2, 1, false, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 1);
  ExpectRefused(table, &floor, 1, 2, true, SectionStatus::kAtLimit);
  end_generation(table.get());
  // Key 3 would begin above key 1, which would leave for it.
  ExpectRefused(table, &floor, 3, 2, true, SectionStatus::kAtLimit);
  ExpectRefused(table, &floor, 3, 0, true, SectionStatus::kAtLimit);
  floor = 9;
  ExpectRefused(table, &floor, 3, 9, true, SectionStatus::kAtLimit);
  EXPECT_EQ(draw(table, &floor, 1, 9, true, &number), SectionStatus::kOk);
  EXPECT_EQ(number, 3);
}

TEST(NextOfKey, WithoutRoomNothingChanges) {
  for (const uint32_t capacity : {1u, 2u, 7u}) {
    const Table table(capacity);
    int64_t floor = 5;
    for (uint32_t key = 0; key < capacity; key++) {
      int64_t number = kNone;
      EXPECT_EQ(draw(table, &floor, key, 100, false, &number), SectionStatus::kOk);
      EXPECT_EQ(number, 6);
    }
    ExpectRefused(table, &floor, capacity, 100, false, SectionStatus::kNoRoom);
    ExpectRefused(table, &floor, INT64_MIN, 6, false, SectionStatus::kNoRoom);
    int64_t number = kNone;
    EXPECT_EQ(draw(table, &floor, 0, 100, false, &number), SectionStatus::kOk);
    EXPECT_EQ(number, 7);
  }
}

TEST(NextOfKey, KeysAndNumbersMayBeAnyInt64) {
  const Table table(5);
  int64_t floor = INT64_MIN;
  for (int round = 1; round <= 3; round++)
    for (const int64_t key : {INT64_MIN, INT64_MIN + 1, int64_t{0}, INT64_MAX - 1, INT64_MAX})
      EXPECT_EQ(Next(table, &floor, key), INT64_MIN + round);
  EXPECT_EQ(table->count, 5u);
  floor = INT64_MAX - 1;
  EXPECT_EQ(Next(table, &floor, 77), INT64_MAX);
  ExpectRefused(table, &floor, 77, INT64_MAX, true, SectionStatus::kAtLimit);
  floor = INT64_MAX;
  ExpectRefused(table, &floor, 78, INT64_MAX, true, SectionStatus::kAtLimit);
}

// What a draw and a key that leaves do to each other, step by step.
TEST(DrawAt, OfAPlaceThatIsAnotherKeysChangesNothing) {
  const Table table(1);
  int64_t floor = 0;
  int64_t number = kNone;
  Next(table, &floor, 1);
  const uint32_t at = find_key(table.get(), 1);
  Next(table, &floor, 2);
  const auto bytes = table.Bytes();
  EXPECT_EQ(draw_at(table.get(), at, 1, INT64_MAX, &number), SectionStatus::kNoRoom);
  EXPECT_EQ(number, kNone);
  EXPECT_EQ(table.Bytes(), bytes);
}

TEST(TryToLeave, HasNoNumberDrawnUntilAnotherKeyIsThere) {
  const Table table(1);
  int64_t floor = 0;
  int64_t number = kNone;
  Next(table, &floor, 1);
  begin_generation(table.get());
  EXPECT_TRUE(try_to_leave(table.get(), find_leaving(table.get())));
  EXPECT_FALSE(draw_known(table.get(), 1, INT64_MAX, &number));
  EXPECT_EQ(number, kNone);
}

TEST(TryToLeave, AKeyThatIsUsedMeanwhileStays) {
  const Table table(2);
  int64_t floor = 0;
  int64_t number = kNone;
  Next(table, &floor, 1);
  Next(table, &floor, 2);
  begin_generation(table.get());
  KeyList* list = find_leaving(table.get());
  const int64_t leaves = table->nodes[list->oldest].key;
  EXPECT_TRUE(draw_known(table.get(), leaves, INT64_MAX, &number));
  EXPECT_EQ(number, 2);
  EXPECT_FALSE(try_to_leave(table.get(), list));
  EXPECT_EQ(Next(table, &floor, leaves), 3);
  Next(table, &floor, 7);
  EXPECT_EQ(KeysOf(table), (Keys{{leaves, 3}, {7, 2}}));
}

TEST(NoteCounted, ByTwoSessionsAtOnceCountsOnce) {
  const Table table(10);
  int64_t floor = 0;
  for (int64_t key = 0; key < 10; key++) Next(table, &floor, key);
  begin_generation(table.get());
  EXPECT_TRUE(count_use(table.get()));
  EXPECT_TRUE(count_use(table.get()));
  note_counted(table.get(), &table->nodes[4]);
  note_counted(table.get(), &table->nodes[4]);
  EXPECT_EQ(table->used, 1u);
}

// First those go that were used least generations ago, and of one generation's those that were
// there for longest.
TEST(CopyKeys, KeepsTheMostRecentlyUsed) {
  constexpr int64_t kLeftOut[] = {5, 4, 2, 2, 2, 2, INT64_MIN, INT64_MIN};
  for (uint32_t most = 0; most < std::size(kLeftOut); most++) {
    const uint32_t kept = std::min(most, 6u);
    for (const uint32_t capacity : {std::max(kept, 1u), kept + 1, 6u, 100u}) {
      const Table from(6);
      int64_t floor = 0;
      // Three are used in a generation: 4 and 5; 1, 2 and 3 before; 6 before that.
      for (const int64_t key : {4, 4, 4, 5, 5, 5, 5, 6, 6, 1, 2, 3, 4, 5}) Next(from, &floor, key);
      EXPECT_EQ(from->generation, 2u);
      const Table to(capacity);
      EXPECT_EQ(copy_keys(from.get(), to.get(), most), kLeftOut[most]);
      EXPECT_EQ(to->count, kept);
      EXPECT_EQ(to->capacity, capacity);
      EXPECT_EQ(to->generation, capacity < 6 ? 3u : 2u);
      EXPECT_EQ(to->used, capacity < 6 ? 0u : 2u);
      constexpr int64_t kFromLatest[] = {5, 4, 3, 2, 1, 6};
      for (uint32_t i = 0; i < 6; i++)
        EXPECT_EQ(find_key(to.get(), kFromLatest[i]) != kNoNode, i < kept) << kFromLatest[i];
    }
  }
}

TEST(CopyKeys, OfNoneAreNone) {
  const Table from(3);
  const Table to(3);
  EXPECT_EQ(copy_keys(from.get(), to.get(), 3), INT64_MIN);
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
      add_key(from.get(), key, lasts.back(), 0);
    }
    const auto most = static_cast<uint32_t>(random.Below(10));
    const Table to(10);
    EXPECT_EQ(copy_keys(from.get(), to.get(), most),
              *std::max_element(lasts.begin(), lasts.end() - most));
  }
}

TEST(KeyTableBytes, Are64AKeyAtMost) {
  for (uint64_t keys = 100; keys < 200'000'000; keys += 1 + keys / 3) {
    EXPECT_LE(key_table_bytes(static_cast<uint32_t>(keys)), 64 * keys);
    // Grown by half when it was full.
    EXPECT_LE(key_table_bytes(static_cast<uint32_t>(keys + keys / 2)), 64 * keys);
  }
  EXPECT_GE(key_table_bytes(UINT32_MAX - 1), 36 * (uint64_t{UINT32_MAX} - 1));
}

// The most keys of one chain.
uint32_t LongestChain(const Table& table) {
  uint32_t longest = 0;
  const std::atomic<uint32_t>* heads = key_table_heads(table.get());
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
        add_key(table.get(), static_cast<int64_t>(start + i * step), 0, 0);
      EXPECT_LE(LongestChain(table), 12u) << "from " << start << " by " << step;
    }
  }
}

TEST(AdaptedIncrements, DoubleWhileTheyLastForUnderATenthOfASecond) {
  EXPECT_EQ(adapted_increments(1, 1, 99'999), 2u);
  EXPECT_EQ(adapted_increments(4, 10'000, 0), 8u);
  EXPECT_EQ(adapted_increments(4, 10'000, 100'000), 4u);
  // A clock that was set back.
  EXPECT_EQ(adapted_increments(4, 10'000, -5'000'000), 8u);
}

TEST(AdaptedIncrements, HalveWhereTheyLastForOverASecond) {
  EXPECT_EQ(adapted_increments(4, 10'000, 1'000'000), 4u);
  EXPECT_EQ(adapted_increments(4, 10'000, 1'000'001), 2u);
  EXPECT_EQ(adapted_increments(1, 10'000, 1'000'001), 1u);
}

TEST(AdaptedIncrements, AreNoMoreThanAMillionNumbersOrOneIncrement) {
  for (const uint64_t increment : {uint64_t{1}, uint64_t{3}, uint64_t{10'000}, uint64_t{1'000'000},
                                   uint64_t{5'000'000}, uint64_t{INT64_MAX}}) {
    uint64_t increments = 1;
    for (int i = 0; i < 100; i++) increments = adapted_increments(increments, increment, 0);
    EXPECT_LE(increments * increment, std::max(kMostNumbers, increment));
    if (increment <= kMostNumbers / 2) {
      EXPECT_GT(2 * increments * increment, kMostNumbers - 2 * increment);
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
