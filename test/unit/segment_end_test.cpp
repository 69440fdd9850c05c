// Tests of how much core/segment.hpp allocates near the end of a sequence: every number up to the
// maximum can be got, and little of what is left is skipped when the numbers in memory are lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/segment.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

std::string Text(const Allotment& allotted) {
  return std::to_string(allotted.count) + " in " + std::to_string(allotted.blocks) + ", " +
         (allotted.is_called ? "last " : "next ") + std::to_string(allotted.says);
}

TEST(BlocksWithin, AreASixteenthOfTheNumbersIssued) {
  EXPECT_EQ(blocks_within(1000, 1, 0, 0), 1u);
  EXPECT_EQ(blocks_within(1000, 1, 31, 0), 1u);
  EXPECT_EQ(blocks_within(1000, 1, 32, 0), 2u);
  EXPECT_EQ(blocks_within(1000, 1, 15'999, 0), 999u);
  EXPECT_EQ(blocks_within(1000, 1, 16'000, 0), 1000u);
  EXPECT_EQ(blocks_within(1000, 1, UINT64_MAX, 0), 1000u);
  EXPECT_EQ(blocks_within(8, 1000, 31'999, 0), 1u);
  EXPECT_EQ(blocks_within(8, 1000, 32'000, 0), 2u);
  EXPECT_EQ(blocks_within(1, 1'000'000, UINT64_MAX, 0), 1u);
}

TEST(BlocksWithin, HaveTheNumbersAskedFor) {
  EXPECT_EQ(blocks_within(1, 1, 0, 1024), 1024u);
  EXPECT_EQ(blocks_within(1, 100, 0, 1024), 11u);
  EXPECT_EQ(blocks_within(1, 1000, 0, 1000), 1u);
  EXPECT_EQ(blocks_within(1, 1000, 0, 1001), 2u);
  EXPECT_EQ(blocks_within(30, 100, 1'000'000, 1024), 30u);
}

TEST(RaiseBy, IsAPartOfWhatIsLeft) {
  EXPECT_EQ(raise_by(0, INT64_MAX, 4, 1000).limit, 4000);
  EXPECT_EQ(raise_by(0, INT64_MAX, 4, 1000).increments, 4u);
  EXPECT_EQ(raise_by(0, 32'000, 4, 1000).limit, 2000);
  EXPECT_EQ(raise_by(0, 32'000, 4, 1000).increments, 2u);
  EXPECT_EQ(raise_by(99, 100, 4, 1000).limit, 100);
  EXPECT_EQ(raise_by(99, 100, 4, 1000).increments, 1u);
  EXPECT_EQ(raise_by(INT64_MIN, INT64_MAX, 1, 1000).limit, INT64_MIN + 1000);
}

TEST(Allot, IsWholeBlocksFarFromTheEnd) {
  EXPECT_EQ(Text(allot(1, INT64_MAX, {1000, 1000}, 1, 1)), "1000 in 1, last 1");
  EXPECT_EQ(Text(allot(1, INT64_MAX, {1000, 1000}, 4, 1)), "4000 in 4, last 3001");
  EXPECT_EQ(Text(allot(1, INT64_MAX, {1000, 1000}, 4, 0)), "4000 in 4, last 3001");
  EXPECT_EQ(Text(allot(1, INT64_MAX, {1, 1}, 5, 0)), "5 in 5, last 5");
  EXPECT_EQ(Text(allot(1, INT64_MAX, {1000, 2000}, 3, 0)), "3000 in 3, last 4001");
  EXPECT_EQ(Text(allot(INT64_MIN, INT64_MAX, {1, int64_t{1} << 59}, 5, 1)),
            "1 in 1, last " + std::to_string(INT64_MIN));
}

TEST(Allot, IsASixteenthOfWhatIsLeft) {
  // 16,001 numbers are left, then one less.
  EXPECT_EQ(Text(allot(1, 16'001, {1000, 1000}, 4, 0)), "1000 in 1, last 1");
  EXPECT_EQ(Text(allot(1, 16'000, {1000, 1000}, 4, 0)), "999 in 1, next 1000");
  EXPECT_EQ(Text(allot(1, 16'001, {1, 1}, 5000, 0)), "1000 in 1000, last 1000");
  EXPECT_EQ(Text(allot(1, 40'000, {1000, 1000}, 4, 0)), "2000 in 2, last 1001");
  // What begins with the rest of a block ends anywhere, too.
  EXPECT_EQ(Text(allot(1000, 16'000, {1000, 1000}, 4, 0)), "937 in 1, next 1937");
}

TEST(Allot, IsWhatIsAskedForAtTheEnd) {
  EXPECT_EQ(Text(allot(90, 100, {100, 100}, 4, 1)), "1 in 1, next 91");
  EXPECT_EQ(Text(allot(90, 100, {100, 100}, 4, 5)), "5 in 1, next 95");
  EXPECT_EQ(Text(allot(90, 100, {100, 100}, 4, 10)), "10 in 1, next 100");
  EXPECT_EQ(Text(allot(90, 100, {100, 100}, 4, 11)), "11 in 1, last 100");
  EXPECT_EQ(Text(allot(90, 100, {100, 100}, 4, 1024)), "11 in 1, last 100");
  EXPECT_EQ(Text(allot(90, 100, {3, 3}, 4, 10)), "9 in 3, last 96");
  EXPECT_EQ(Text(allot(90, 100, {3, 3}, 1, 10)), "3 in 1, last 90");
  EXPECT_EQ(Text(allot(90, 100, {3, 3}, 9, 10)), "9 in 3, last 96");
  EXPECT_EQ(Text(allot(90, 100, {3, 3}, 9, 11)), "9 in 3, last 96");
  EXPECT_EQ(Text(allot(90, 100, {3, 3}, 9, 12)), "11 in 4, last 100");
  EXPECT_EQ(Text(allot(100, 100, {1, 1}, 4, 1)), "1 in 1, last 100");
  EXPECT_EQ(Text(allot(100, 100, {9, 9}, 4, 1)), "1 in 1, last 100");
  EXPECT_EQ(Text(allot(INT64_MAX, INT64_MAX, {9, 9}, 4, 9)),
            "1 in 1, last " + std::to_string(INT64_MAX));
}

TEST(Allot, LeavesTheNumbersBetweenBlocksAlone) {
  EXPECT_EQ(Text(allot(1, 100, {10, 20}, 9, 1)), "10 in 1, last 1");
  EXPECT_EQ(Text(allot(81, 100, {10, 20}, 9, 100)), "10 in 1, last 81");
  EXPECT_EQ(Text(allot(81, 84, {10, 20}, 9, 1)), "4 in 1, last 81");
  EXPECT_EQ(Text(allot(1, 1000, {10, 20}, 9, 0)), "30 in 3, last 41");
}

TEST(Allot, IsNothingWhereThereIsNothingOrNobodyAsks) {
  for (const Spacing spacing : {Spacing{1, 1}, Spacing{100, 100}, Spacing{50, 100}}) {
    EXPECT_EQ(allot(101, 100, spacing, 4, 1).count, 0u);
    EXPECT_EQ(allot(INT64_MAX, INT64_MIN, spacing, 4, 1).count, 0u);
    EXPECT_EQ(allot(86, 100, spacing, 4, 0).count, 0u);
    EXPECT_GT(allot(86, 100, spacing, 4, 1).count, 0u);
  }
  EXPECT_EQ(allot(84, 100, {1, 1}, 4, 0).count, 1u);
}

// A sequence as PostgreSQL has it, and a segment of it that is refilled as the extension does: with
// blocks that are doubled each time, since all of this takes no time.
class Sequence {
 public:
  Sequence(Spacing spacing, int64_t max) : spacing_(spacing), max_(max) {}

  // Draws up to so many. Where there are none the count is 0.
  Drawn Next(uint32_t want) {
    for (;;) {
      Drawn drawn = draw(segment_, want);
      if (drawn.count > 0 && drawn.is_low && has_room(segment_) && !Refill(0)) stop_alert(segment_);
      if (drawn.count > 0 || !Refill(want)) return drawn;
    }
  }
  // A restart: nothing is in memory. An ALTER SEQUENCE: nothing of it counts.
  void Restart() {
    forget(segment_);
    blocks_ = 0;
    issued_before_ = given_by(segment_);
  }
  void Alter() { forget(segment_); }
  // How many numbers were issued since the restart.
  uint64_t Issued() const { return given_by(segment_) - issued_before_; }

 private:
  bool Refill(uint32_t want) {
    int64_t first = last_;
    if (is_called_ &&
        __builtin_add_overflow(last_, static_cast<int64_t>(spacing_.increment), &first))
      return false;
    blocks_ = blocks_within(std::max<uint64_t>(1, 2 * blocks_), spacing_.size, Issued(), want);
    const Allotment allotted = allot(first, max_, spacing_, blocks_, want);
    if (allotted.count == 0) return false;
    EXPECT_TRUE(allotted.says >= first && allotted.says <= max_) << Text(allotted);
    last_ = allotted.says;
    is_called_ = allotted.is_called;
    blocks_ = allotted.blocks;
    publish(segment_, first, allotted.count, spacing_);
    return true;
  }

  const Spacing spacing_;
  const int64_t max_;
  int64_t last_ = 1;
  bool is_called_ = false;
  Segment segment_{};
  uint64_t blocks_ = 0;
  uint64_t issued_before_ = 0;
};

constexpr Spacing kSpacings[] = {{1, 1},       {2, 2},       {3, 3},      {16, 16}, {100, 100},
                                 {1000, 1000}, {5000, 5000}, {1, 2},      {9, 10},  {1, 100},
                                 {500, 1000},  {1, 5000},    {2500, 5000}};
constexpr int64_t kEnds[] = {1, 2, 15, 16, 17, 100, 1000, 9999, 32767};

TEST(Sequence, IsUsedToItsEndWithoutGaps) {
  for (const Spacing spacing : kSpacings) {
    for (const int64_t max : kEnds) {
      for (const uint32_t want : {1u, 7u, 1024u}) {
        Sequence sequence(spacing, max);
        const uint64_t all = count_up_to(1, spacing, uint64_t{1} << 40, max);
        uint64_t count = 0;
        for (;;) {
          const Drawn drawn = sequence.Next(want);
          if (drawn.count == 0) break;
          ASSERT_EQ(drawn.first, number_at(1, spacing, count));
          count += drawn.count;
        }
        ASSERT_EQ(count, all) << spacing.size << "/" << spacing.increment << " to " << max;
      }
    }
  }
}

// The first number drawn after the numbers in memory were lost, where `last` was the last before.
void ExpectNear(int64_t next, int64_t last, int64_t max, Spacing spacing, uint64_t issued) {
  const auto skipped = static_cast<uint64_t>(next - last - 1);
  const auto left = static_cast<uint64_t>(max - last);
  if (spacing.size == spacing.increment) {
    ASSERT_LE(skipped, left / 8) << last;
    ASSERT_LE(skipped, issued / 8 + 2 * spacing.increment) << last;
  } else {
    ASSERT_LE(skipped, left / 8 + 2 * spacing.increment) << last;
  }
}

TEST(Sequence, SkipsAnEighthOfWhatIsLeftAtMost) {
  Random random(1);
  for (const Spacing spacing : kSpacings) {
    for (const int64_t max : kEnds) {
      for (int round = 0; round < 20; round++) {
        Sequence sequence(spacing, max);
        int64_t last = 0;
        for (bool is_lost = false;;) {
          const uint64_t issued = sequence.Issued();
          const Drawn drawn = sequence.Next(1);
          if (drawn.count == 0) break;
          if (is_lost) ExpectNear(drawn.first, last, max, spacing, issued);
          ASSERT_GT(drawn.first, last);
          last = drawn.first;
          is_lost = random.Below(static_cast<uint64_t>(max) / 20 + 4) == 0;
          if (is_lost) sequence.Alter();
          if (HasFatalFailure())
            FAIL() << spacing.size << "/" << spacing.increment << " to " << max;
        }
        if (spacing.size == spacing.increment && last != max) FAIL() << last << " of " << max;
      }
    }
  }
}

// After a restart, too, no more than that; and a restart in the course of it forgets what was
// issued.
TEST(Sequence, SkipsNoMoreWhereItIsRestarted) {
  Random random(2);
  for (const Spacing spacing : {Spacing{1, 1}, Spacing{7, 7}, Spacing{1000, 1000}}) {
    Sequence sequence(spacing, 200'000);
    int64_t last = 0;
    for (bool is_lost = false;;) {
      const Drawn drawn = sequence.Next(1);
      if (drawn.count == 0) break;
      const int64_t most = is_lost ? (200'000 - last) / 8 : 0;
      ASSERT_LE(drawn.first - last - 1, most);
      last = drawn.first;
      is_lost = random.Below(5000) == 0;
      if (is_lost) sequence.Restart();
    }
    ASSERT_EQ(last, 200'000);
  }
}

// Anywhere in the bigints: what the sequence says is where the numbers end.
TEST(Allot, SaysWhereTheNumbersEndAnywhere) {
  Random random(3);
  for (int i = 0; i < 300'000; i++) {
    const uint64_t increment = 1 + random.UpTo(INT64_MAX - 1);
    const Spacing spacing{random.Below(2) == 0 ? increment : 1 + random.UpTo(increment - 1),
                          increment};
    const bool is_dense = spacing.size == increment;
    const auto first = static_cast<int64_t>(random.UpTo(UINT64_MAX));
    const uint64_t room =
        random.UpTo(static_cast<uint64_t>(INT64_MAX) - static_cast<uint64_t>(first));
    const auto max = static_cast<int64_t>(static_cast<uint64_t>(first) + room);
    const uint64_t want = random.UpTo(1024);
    const uint64_t blocks = 1 + random.UpTo(1'000'000);
    const Allotment allotted = allot(first, max, spacing, blocks, want);
    if (allotted.count == 0) {
      ASSERT_EQ(want, 0u);
      continue;
    }
    ASSERT_LE(allotted.blocks, blocks);
    ASSERT_TRUE(allotted.says >= first && allotted.says <= max);
    if (!is_dense) {
      ASSERT_EQ(allotted.says, number_at(first, {1, increment}, allotted.blocks - 1));
      ASSERT_EQ(allotted.count, count_up_to(first, spacing, allotted.blocks, max));
      continue;
    }
    ASSERT_LE(allotted.count - 1, room);
    ASSERT_LE(allotted.count, std::max(room / kPart, want));
    // The next number, by what the sequence says; none where it would be above the maximum.
    const uint64_t next = static_cast<uint64_t>(allotted.says) - static_cast<uint64_t>(first) +
                          (allotted.is_called ? increment : 0);
    if (allotted.count <= room) {
      ASSERT_EQ(next, allotted.count);
    } else {
      ASSERT_GT(next, room);
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
