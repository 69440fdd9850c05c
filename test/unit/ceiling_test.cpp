// Tests of core/ceiling.hpp: how far ahead of IDs the ceiling is raised.
#include "core/ceiling.hpp"

#include <gtest/gtest.h>

namespace snowid::core {
namespace {

constexpr int64_t kSecond = 1000000;
constexpr UnixMicros kNow{1700000000 * kSecond};

UnixMicros After(int64_t us) { return {kNow.value + us}; }

TEST(CeilingTest, IsAStepAboveIdsThatComeOften) {
  const CeilingWish wish = WishOf(kNow, kNow, After(-kSecond / 64), kSecond);
  EXPECT_EQ(wish.target, After(kSecond));
  EXPECT_EQ(wish.enough, After(kSecond / 2));
}

TEST(CeilingTest, IsFurtherAboveTheClockWhereIdsComeSeldom) {
  const CeilingWish wish = WishOf(kNow, kNow, After(-kSecond / 64 - 1), kSecond);
  EXPECT_EQ(wish.target, After(2400000));
  EXPECT_EQ(wish.enough, After(1900000));
}

TEST(CeilingTest, IsAStepAboveIdsThatRunAheadOfTheClock) {
  // A burst has borrowed a second: the clock is still before the alert.
  const CeilingWish wish = WishOf(After(kSecond), kNow, After(kSecond / 2), kSecond);
  EXPECT_EQ(wish.target, After(2 * kSecond));
}

TEST(CeilingTest, AFirstBurstAfterAPauseAddsNoLeadToTheDistance) {
  const CeilingWish wish = WishOf(After(kSecond), kNow, After(-9 * kSecond), kSecond);
  EXPECT_EQ(wish.target, After(2400000));
}

TEST(CeilingTest, IsNeverFurtherThanFiveSecondsAboveTheClock) {
  for (int64_t step_us = 10000; step_us <= 5 * kSecond; step_us += 10000) {
    const CeilingWish wish = WishOf(kNow, kNow, After(-60 * kSecond), step_us);
    EXPECT_EQ(wish.target.value - kNow.value, std::min(step_us * 12 / 5, 5 * kSecond));
    EXPECT_EQ(wish.target.value - wish.enough.value, step_us / 2);
  }
}

TEST(CeilingTest, AStepOfMoreThanThatIsKept) {
  EXPECT_EQ(WishOf(kNow, kNow, After(-60 * kSecond), 9 * kSecond).target, After(9 * kSecond));
}

TEST(CeilingTest, AClockSetBackIsNoPause) {
  EXPECT_EQ(WishOf(kNow, After(-3600 * kSecond), After(-1), kSecond).target, After(kSecond));
}

}  // namespace
}  // namespace snowid::core
