// Tests of core/adapting_step.hpp, with the times of a section.
#include "core/adapting_step.hpp"

#include <gtest/gtest.h>

namespace snowid::core::test {
namespace {

uint64_t Adapted(uint64_t increments, uint64_t increment, int64_t lasted_us) {
  return adapted_step(increments, increment, lasted_us, {100'000, 1'000'000});
}

TEST(AdaptedIncrements, DoubleWhileTheyLastForUnderATenthOfASecond) {
  EXPECT_EQ(Adapted(1, 1, 99'999), 2u);
  EXPECT_EQ(Adapted(4, 10'000, 0), 8u);
  EXPECT_EQ(Adapted(4, 10'000, 100'000), 4u);
  // A clock that was set back.
  EXPECT_EQ(Adapted(4, 10'000, -5'000'000), 8u);
}

TEST(AdaptedIncrements, HalveWhereTheyLastForOverASecond) {
  EXPECT_EQ(Adapted(4, 10'000, 1'000'000), 4u);
  EXPECT_EQ(Adapted(4, 10'000, 1'000'001), 2u);
  EXPECT_EQ(Adapted(1, 10'000, 1'000'001), 1u);
}

TEST(AdaptedIncrements, AreNoMoreThanAMillionNumbersOrOneIncrement) {
  for (const uint64_t increment : {uint64_t{1}, uint64_t{3}, uint64_t{10'000}, uint64_t{1'000'000},
                                   uint64_t{5'000'000}, uint64_t{INT64_MAX}}) {
    uint64_t increments = 1;
    for (int i = 0; i < 100; i++) increments = Adapted(increments, increment, 0);
    EXPECT_LE(increments * increment, std::max(kMostNumbers, increment));
    if (increment <= kMostNumbers / 2) {
      EXPECT_GT(2 * increments * increment, kMostNumbers - 2 * increment);
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
