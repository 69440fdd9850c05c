// Tests of core/ceiling.hpp: how far ahead of IDs the ceiling is raised.
#include "core/ceiling.hpp"

#include <gtest/gtest.h>

namespace snowid::core {
namespace {

constexpr int64_t kSecond = 1000000;
constexpr UnixMicros kNow{1700000000 * kSecond};

UnixMicros After(int64_t us) { return {kNow.value + us}; }

CeilingWish WishOf(UnixMicros moment, UnixMicros now, UnixMicros alert, int64_t step_us) {
  return wish_of(moment, now, is_seldom(now, alert, step_us), step_us);
}

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

// What somebody finds whose ID asks for a ceiling of two steps, where one and a half are enough.
constexpr CeilingWish kWish{{kNow.value + 2 * kSecond}, {kNow.value + 3 * kSecond / 2}};

RaiseStep StepWhere(int64_t moment_us, int64_t written_us, int64_t ceiling_us, bool was_ahead) {
  return step_of(After(moment_us), kWish, {false, was_ahead, After(written_us), After(ceiling_us)});
}

TEST(CeilingTest, ARaiseThatIsEarlyIsWrittenAhead) {
  EXPECT_EQ(StepWhere(0, 1, 1, false), RaiseStep::kWrite);
  // Also where what was ahead has just been published.
  EXPECT_EQ(StepWhere(1, 1, 1, true), RaiseStep::kWrite);
}

TEST(CeilingTest, IsNotRaisedWhereItIsHighEnough) {
  EXPECT_EQ(StepWhere(0, 3 * kSecond / 2, 3 * kSecond / 2, false), RaiseStep::kNothing);
  EXPECT_EQ(StepWhere(0, 3 * kSecond / 2 - 1, 3 * kSecond / 2 - 1, false), RaiseStep::kWrite);
}

TEST(CeilingTest, WhatIsWrittenAheadIsNudgedByTheNextWhoComes) {
  EXPECT_EQ(StepWhere(0, 2 * kSecond, 1, false), RaiseStep::kNothing);
  EXPECT_EQ(StepWhere(0, 2 * kSecond, 1, true), RaiseStep::kNudge);
  // Though it is low by now: it is published first.
  EXPECT_EQ(StepWhere(0, 2, 1, true), RaiseStep::kNudge);
}

TEST(CeilingTest, AnIdAboveItWaits) {
  EXPECT_EQ(StepWhere(2, 2 * kSecond, 1, true), RaiseStep::kPublish);
  EXPECT_EQ(StepWhere(2, 2 * kSecond, 1, false), RaiseStep::kPublish);
  EXPECT_EQ(StepWhere(2, 1, 1, false), RaiseStep::kWriteAndPublish);
  EXPECT_EQ(StepWhere(2, 3 * kSecond / 2 - 1, 1, true), RaiseStep::kWriteAndPublish);
}

TEST(CeilingTest, IsWrittenToAnotherSequenceHoweverHighItIs) {
  for (const int64_t ceiling_us : {int64_t{-1}, int64_t{1}, 9 * kSecond})
    EXPECT_EQ(step_of(kNow, kWish, {true, false, After(9 * kSecond), After(ceiling_us)}),
              RaiseStep::kWriteAndPublish);
}

TEST(CeilingTest, TheNextAskBeforeTheCeilingWhileItIsWrittenAhead) {
  EXPECT_EQ(alert_of(kNow, After(5), kWish, After(2 * kSecond), After(9)), After(5));
  EXPECT_EQ(alert_of(kNow, After(5), kWish, After(2 * kSecond), After(4)), After(4));
}

TEST(CeilingTest, TheAlertIsAsFarBelowItAsWouldBeEnoughAboveTheId) {
  EXPECT_EQ(alert_of(kNow, After(5), kWish, After(2 * kSecond), After(2 * kSecond)),
            After(kSecond / 2));
}

TEST(CeilingTest, OfWhatIsSetFromOutsideNoMoreCountsThanMay) {
  constexpr UnixMillis kOwn{1000};
  constexpr UnixMillis kAll{INT64_MAX};
  EXPECT_EQ(set_ceiling({999}, kOwn, kAll), kOwn);
  EXPECT_EQ(set_ceiling({5000}, kOwn, kAll), UnixMillis{5000});
  EXPECT_EQ(set_ceiling({5000}, kOwn, {4000}), UnixMillis{4000});
  EXPECT_EQ(set_ceiling({3000}, kOwn, {4000}), UnixMillis{3000});
  EXPECT_EQ(set_ceiling({5000}, kOwn, {900}), kOwn);
}

}  // namespace
}  // namespace snowid::core
