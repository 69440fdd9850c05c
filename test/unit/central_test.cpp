// Tests of core/central.hpp: which blocks of a central source a sequence here takes.
#include "core/central.hpp"

#include <gtest/gtest.h>

namespace snowid::core {
namespace {

constexpr GivenBlocks kGiven{1001, 3, 100, 5000};

OwnNumbers From(int64_t next, int64_t max = INT64_MAX) { return {true, next, max}; }

TEST(CentralTest, IsPossibleWhereTheLastBlockBeginsUpToTheMaximum) {
  EXPECT_TRUE(is_possible(kGiven));
  EXPECT_TRUE(is_possible({1001, 3, 100, 1201}));
  EXPECT_FALSE(is_possible({1001, 3, 100, 1200}));
  EXPECT_FALSE(is_possible({1001, 1, 100, 1000}));
  EXPECT_TRUE(is_possible({INT64_MIN, 2, INT64_MAX, INT64_MAX}));
  EXPECT_FALSE(is_possible({INT64_MIN, 4, INT64_MAX, INT64_MAX}));
}

TEST(CentralTest, TakesAllThatIsAboveWhatWasGivenHere) {
  const TakenBlocks taken = take_blocks(kGiven, From(1001));
  EXPECT_EQ(taken.taking, Taking::kTaken);
  EXPECT_EQ(taken.first, 1001);
  EXPECT_EQ(taken.blocks, 3u);
  EXPECT_EQ(taken.max, 5000);
  EXPECT_TRUE(taken.has_next);
  EXPECT_EQ(taken.says, 1301);
}

TEST(CentralTest, IsBehindWhereTheFirstBeginsBelow) {
  EXPECT_EQ(take_blocks(kGiven, From(1002)).taking, Taking::kBehind);
  EXPECT_EQ(take_blocks(kGiven, From(5000)).taking, Taking::kBehind);
}

TEST(CentralTest, IsExhaustedAboveEitherMaximum) {
  EXPECT_EQ(take_blocks(kGiven, {false, 0, INT64_MAX}).taking, Taking::kExhausted);
  EXPECT_EQ(take_blocks(kGiven, From(5001)).taking, Taking::kExhausted);
  EXPECT_EQ(take_blocks(kGiven, From(1, 1000)).taking, Taking::kExhausted);
}

TEST(CentralTest, EndsAtTheMaximum) {
  const TakenBlocks taken = take_blocks(kGiven, From(1, 1150));
  EXPECT_EQ(taken.blocks, 2u);
  EXPECT_EQ(taken.max, 1150);
  EXPECT_FALSE(taken.has_next);
  EXPECT_EQ(taken.says, 1150);
}

TEST(CentralTest, SaysTheNextNumberUpToTheSequencesOwnMaximum) {
  EXPECT_EQ(take_blocks(kGiven, From(1, 1301)).says, 1301);
  EXPECT_TRUE(take_blocks(kGiven, From(1, 1301)).has_next);
  EXPECT_FALSE(take_blocks(kGiven, From(1, 1300)).has_next);
}

TEST(CentralTest, CountsToTheEndsOfBigint) {
  const GivenBlocks all{INT64_MIN, 2, INT64_MAX, INT64_MAX};
  const TakenBlocks taken = take_blocks(all, From(INT64_MIN));
  EXPECT_EQ(taken.blocks, 2u);
  EXPECT_EQ(taken.says, INT64_MAX - 1);
  EXPECT_EQ(take_blocks({INT64_MAX, 1, 1, INT64_MAX}, From(INT64_MIN)).has_next, false);
  EXPECT_EQ(take_blocks(all, From(INT64_MAX)).taking, Taking::kBehind);
}

}  // namespace
}  // namespace snowid::core
