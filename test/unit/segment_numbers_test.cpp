// Tests of what core/segment.hpp reckons: where the numbers of spaced blocks lie, against numbers
// that are counted one by one, and how many to allocate.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/segment.hpp"
#include "random.hpp"
#include "segments.hpp"

namespace snowid::core::test {
namespace {

__extension__ typedef __int128 Wide;

constexpr int64_t kSecondUs = 1'000'000;
constexpr int64_t kMinuteUs = 60 * kSecondUs;
constexpr Spacing kSpacings[] = {{1, 1}, {1, 2},  {1, 1000}, {2, 3},     {3, 7},
                                 {7, 7}, {9, 10}, {10, 11},  {100, 200}, {100, 100}};

TEST(NumberAt, IsTheNumberThatIsCountedTo) {
  for (const Spacing spacing : kSpacings) {
    for (const int64_t first : {int64_t{0}, int64_t{-1500}, INT64_MIN, INT64_MAX - 1'000'000}) {
      const std::vector<int64_t> numbers = NumbersOf(first, 1000, spacing);
      for (uint64_t offset = 0; offset < numbers.size(); offset++)
        if (number_at(first, spacing, offset) != numbers[offset]) FAIL() << first << " " << offset;
    }
  }
}

TEST(NumberAt, ReachesFar) {
  EXPECT_EQ(number_at(0, {1, 1}, INT64_MAX), INT64_MAX);
  EXPECT_EQ(number_at(INT64_MIN, {1, 1}, INT64_MAX), -1);
  EXPECT_EQ(number_at(-1, {1, int64_t{1} << 62}, 1), (int64_t{1} << 62) - 1);
  EXPECT_EQ(number_at(1, {uint64_t{1} << 61, uint64_t{1} << 62}, uint64_t{1} << 61),
            (int64_t{1} << 62) + 1);
  EXPECT_EQ(number_at(INT64_MIN, {1, INT64_MAX}, 1), -1);
}

// Block by block, with room for every number.
uint64_t CountedUpTo(int64_t first, Spacing spacing, uint64_t blocks, int64_t max) {
  Wide count = 0;
  for (uint64_t block = 0; block < blocks; block++) {
    const Wide start = Wide{first} + Wide{block} * spacing.increment;
    count += std::clamp<Wide>(Wide{max} - start + 1, 0, spacing.size);
  }
  return static_cast<uint64_t>(count);
}

TEST(CountUpTo, IsWhatIsCountedBlockByBlock) {
  for (const Spacing spacing : kSpacings) {
    if (spacing.increment > 11) continue;
    for (uint64_t blocks = 0; blocks <= 4; blocks++)
      for (int64_t first = -3; first <= 3; first++)
        for (int64_t max = -60; max <= 60; max++)
          ASSERT_EQ(count_up_to(first, spacing, blocks, max),
                    CountedUpTo(first, spacing, blocks, max))
              << first << " " << blocks << " " << max;
  }
}

TEST(CountUpTo, IsWhatIsCountedNearTheEndsOfInt64) {
  for (const Spacing spacing : kSpacings) {
    for (uint64_t blocks = 1; blocks <= 3; blocks++) {
      for (int64_t i = 0; i < 300; i++) {
        ASSERT_EQ(count_up_to(INT64_MAX - i, spacing, blocks, INT64_MAX),
                  CountedUpTo(INT64_MAX - i, spacing, blocks, INT64_MAX));
        ASSERT_EQ(count_up_to(INT64_MIN, spacing, blocks, INT64_MIN + i),
                  CountedUpTo(INT64_MIN, spacing, blocks, INT64_MIN + i));
        ASSERT_EQ(count_up_to(INT64_MIN + i, spacing, blocks, INT64_MAX - i),
                  blocks * spacing.size);
      }
    }
  }
  EXPECT_EQ(count_up_to(INT64_MAX, {1, 1}, 1, INT64_MAX), 1u);
  EXPECT_EQ(count_up_to(INT64_MAX, {1, 1}, 100, INT64_MAX), 1u);
  EXPECT_EQ(count_up_to(INT64_MAX, {5, 9}, 1, INT64_MIN), 0u);
  EXPECT_EQ(count_up_to(INT64_MIN, {1, 1}, INT64_MAX, INT64_MAX), uint64_t{INT64_MAX});
  EXPECT_EQ(count_up_to(0, {1, 1}, INT64_MAX, INT64_MAX), uint64_t{INT64_MAX});
  EXPECT_EQ(count_up_to(1, {1, 1}, INT64_MAX, INT64_MAX), uint64_t{INT64_MAX});
  EXPECT_EQ(count_up_to(2, {1, 1}, INT64_MAX, INT64_MAX), uint64_t{INT64_MAX} - 1);
  EXPECT_EQ(count_up_to(INT64_MIN, {1, INT64_MAX}, 5, INT64_MAX), 3u);
  EXPECT_EQ(count_up_to(INT64_MIN, {INT64_MAX, INT64_MAX}, 1, INT64_MAX), uint64_t{INT64_MAX});
}

TEST(CountUpTo, IsWhatIsCountedAnywhere) {
  Random random(1);
  for (int i = 0; i < 200000; i++) {
    const uint64_t increment = 1 + random.UpTo(INT64_MAX - 1);
    const Spacing spacing{1 + random.UpTo(increment - 1), increment};
    const uint64_t blocks = random.UpTo(std::min<uint64_t>(40, INT64_MAX / spacing.size));
    const auto first = static_cast<int64_t>(random.UpTo(UINT64_MAX));
    const auto max =
        static_cast<int64_t>(random.Below(2) == 0 ? random.UpTo(UINT64_MAX)
                                                  : static_cast<uint64_t>(first) + random.Sized());
    ASSERT_EQ(count_up_to(first, spacing, blocks, max), CountedUpTo(first, spacing, blocks, max))
        << first << " " << spacing.size << "/" << spacing.increment << " " << blocks << " " << max;
  }
}

TEST(CountUpTo, TheLastCountedNumberIsNotAboveTheMost) {
  Random random(2);
  for (int i = 0; i < 100000; i++) {
    const uint64_t increment = 1 + random.UpTo(1000000);
    const Spacing spacing{1 + random.UpTo(increment - 1), increment};
    const int64_t first = random.In(-1000000000, 1000000000);
    const int64_t max = first + static_cast<int64_t>(random.UpTo(1000000000));
    const uint64_t count = count_up_to(first, spacing, 2000000000, max);
    ASSERT_GE(count, 1u);
    ASSERT_LE(number_at(first, spacing, count - 1), max);
    ASSERT_GT(number_at(first, spacing, count), max);
  }
}

TEST(AdaptedBlocks, DoubleUnder15MinutesAndHalveOver30) {
  for (const uint64_t blocks : {1, 2, 3, 10, 499}) {
    for (const int64_t lasted_us : {int64_t{0}, kSecondUs, 15 * kMinuteUs - 1, INT64_MIN})
      EXPECT_EQ(adapted_blocks(blocks, 1000, lasted_us), 2 * blocks);
    for (const int64_t lasted_us : {15 * kMinuteUs, 20 * kMinuteUs, 30 * kMinuteUs})
      EXPECT_EQ(adapted_blocks(blocks, 1000, lasted_us), blocks);
    for (const int64_t lasted_us : {30 * kMinuteUs + 1, 60 * kMinuteUs, INT64_MAX})
      EXPECT_EQ(adapted_blocks(blocks, 1000, lasted_us), std::max<uint64_t>(1, blocks / 2));
  }
}

TEST(AdaptedBlocks, DoubleToAMillionNumbersAtMost) {
  EXPECT_EQ(kMostNumbers, 1'000'000u);
  for (const uint64_t size : {1, 3, 7, 1000, 333'333, 499'999, 500'000, 500'001, 600'000, 1'000'000,
                              1'000'001, 5'000'000}) {
    for (uint64_t blocks = 1; blocks <= 600; blocks++)
      EXPECT_EQ(adapted_blocks(blocks, size, 0),
                2 * blocks * size <= 1'000'000 ? 2 * blocks : blocks);
  }
  EXPECT_EQ(adapted_blocks(500'000, 1, 0), 1'000'000u);
  EXPECT_EQ(adapted_blocks(500'001, 1, 0), 500'001u);
  EXPECT_EQ(adapted_blocks(1'000'000, 1, 0), 1'000'000u);
  EXPECT_EQ(adapted_blocks(500, 1000, 0), 1000u);
  EXPECT_EQ(adapted_blocks(501, 1000, 0), 501u);
  EXPECT_EQ(adapted_blocks(1, 500'000, 0), 2u);
  EXPECT_EQ(adapted_blocks(1, 600'000, 0), 1u);
  EXPECT_EQ(adapted_blocks(1, 1'000'000, 0), 1u);
  EXPECT_EQ(adapted_blocks(1, 5'000'000, 0), 1u);
  // What was more than that is not cut down because it goes fast.
  EXPECT_EQ(adapted_blocks(3, 5'000'000, 0), 3u);
  EXPECT_EQ(adapted_blocks(3, 5'000'000, 31 * kMinuteUs), 1u);
  EXPECT_EQ(adapted_blocks(UINT64_MAX, UINT64_MAX, 0), UINT64_MAX);
}

TEST(NumbersAhead, LastAnHourAtTheRateSoFar) {
  EXPECT_EQ(numbers_ahead(1000, 60 * kMinuteUs), 1000u);
  EXPECT_EQ(numbers_ahead(1000, 30 * kMinuteUs), 2000u);
  EXPECT_EQ(numbers_ahead(1000, 120 * kMinuteUs), 500u);
  EXPECT_EQ(numbers_ahead(1000, kMinuteUs), 60'000u);
  EXPECT_EQ(numbers_ahead(1, 60 * kMinuteUs + 1), 0u);
}

TEST(NumbersAhead, BurstsCountAs10Seconds) {
  EXPECT_EQ(numbers_ahead(1000, 10 * kSecondUs), 360'000u);
  EXPECT_LT(numbers_ahead(1'000'000, 10 * kSecondUs + 1), 360'000'000u);
  for (const int64_t lasted_us :
       {10 * kSecondUs - 1, kSecondUs, int64_t{1}, int64_t{0}, int64_t{-1}, -kMinuteUs, INT64_MIN})
    EXPECT_EQ(numbers_ahead(1'000'000, lasted_us), 360'000'000u);
}

TEST(NumbersAhead, AreBetweenNoneAndHalfOfAll) {
  for (const int64_t lasted_us : {int64_t{0}, kMinuteUs, INT64_MAX})
    EXPECT_EQ(numbers_ahead(0, lasted_us), 0u);
  EXPECT_EQ(numbers_ahead(UINT64_MAX, 0), uint64_t{1} << 62);
  EXPECT_EQ(numbers_ahead(UINT64_MAX, kMinuteUs), uint64_t{1} << 62);
  EXPECT_EQ(numbers_ahead(uint64_t{1} << 62, 60 * kMinuteUs), uint64_t{1} << 62);
  EXPECT_EQ(numbers_ahead((uint64_t{1} << 62) + 4096, 60 * kMinuteUs), uint64_t{1} << 62);
  EXPECT_EQ(numbers_ahead(uint64_t{1} << 61, 60 * kMinuteUs), uint64_t{1} << 61);
  EXPECT_EQ(numbers_ahead(uint64_t{1} << 61, 30 * kMinuteUs), uint64_t{1} << 62);
  Random random(3);
  for (int i = 0; i < 100000; i++) {
    const uint64_t used = random.UpTo(UINT64_MAX);
    const auto lasted_us = static_cast<int64_t>(random.UpTo(INT64_MAX));
    const uint64_t ahead = numbers_ahead(used, lasted_us);
    ASSERT_LE(ahead, uint64_t{1} << 62);
    ASSERT_LE(ahead, numbers_ahead(used, lasted_us / 2));
    ASSERT_GE(ahead, numbers_ahead(used / 2, lasted_us));
  }
}

// A segment that is drawn from as time goes by, and whose caller allocates NumbersAhead of what
// went since the last time as soon as it is told to.
class Refiller {
 public:
  explicit Refiller(uint64_t first_count) { Refill(first_count); }

  // Draws so many in a second.
  void Second(uint64_t rate) {
    now_us_ += kSecondUs;
    for (uint64_t left = rate; left > 0;) {
      const Drawn drawn = draw(segment_, static_cast<uint32_t>(left));
      used_ += drawn.count;
      left_ -= drawn.count;
      left -= drawn.count;
      least_left_ = std::min(least_left_, left_);
      if (drawn.is_low && has_room(segment_)) {
        steady_ = steady_ || now_us_ - refilled_us_ >= 10 * kSecondUs;
        Refill(std::max<uint64_t>(1, numbers_ahead(used_, now_us_ - refilled_us_)));
      }
    }
  }
  // Whether it has allocated for a rate that it has seen for 10 seconds.
  bool IsSteady() const { return steady_; }
  // The least that was left since this was last asked.
  uint64_t TakeLeastLeft() { return std::exchange(least_left_, left_); }

 private:
  void Refill(uint64_t count) {
    publish(segment_, next_, count, {1, 1});
    next_ += static_cast<int64_t>(count);
    left_ += count;
    used_ = 0;
    refilled_us_ = now_us_;
  }

  Segment segment_{};
  int64_t next_ = 0;
  uint64_t left_ = 0;
  uint64_t used_ = 0;
  uint64_t least_left_ = UINT64_MAX;
  int64_t now_us_ = 0;
  int64_t refilled_us_ = 0;
  bool steady_ = false;
};

// Draws at a rate a second for two hours, and expects so many seconds' worth to be left throughout.
void ExpectSecondsLeft(Refiller* refiller, uint64_t rate, uint64_t seconds) {
  refiller->TakeLeastLeft();
  for (int second = 0; second < 2 * 60 * 60; second++) refiller->Second(rate);
  EXPECT_GE(refiller->TakeLeastLeft(), seconds * rate) << rate << " a second";
}

TEST(NumbersAhead, LeaveNeverLessThan10MinutesOfASteadyRate) {
  for (const uint64_t rate : {1, 2, 3, 7, 10, 99, 1000, 123'456, 10'000'000}) {
    for (const uint64_t first_count : {1, 10, 1000, 1'000'000}) {
      Refiller refiller(first_count);
      while (!refiller.IsSteady()) refiller.Second(rate);
      ExpectSecondsLeft(&refiller, rate, 10 * 60);
    }
  }
}

// What is left when the rate grows was to last for 54 minutes.
TEST(NumbersAhead, Leave10MinutesWhereTheRateGrowsToFiveTimes) {
  for (const uint64_t rate : {5, 1000}) {
    for (int minutes = 1; minutes < 120; minutes += 7) {
      Refiller refiller(1000);
      ExpectSecondsLeft(&refiller, rate, 0);
      for (int second = 0; second < 60 * minutes; second++) refiller.Second(rate);
      ExpectSecondsLeft(&refiller, 5 * rate, 10 * 60);
      ExpectSecondsLeft(&refiller, 5 * rate, 10 * 60);
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
