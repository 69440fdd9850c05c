// Tests of core/partition_plan.hpp: how IDs are cut into partitions by their time.
#include "core/partition_plan.hpp"

#include <gtest/gtest.h>

#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core {
namespace {

using test::Random;

constexpr Step kMonth{Step::kMonths, 1};
constexpr Step kDay{Step::kDays, 1};
constexpr Step kHour{Step::kHours, 1};

// 2026-11-22 10:00Z, and the first of that month and of the next.
constexpr UnixMicros kNow{1795341600'000000};
constexpr UnixMicros kNovember{1793491200'000000};
constexpr UnixMicros kDecember{1796083200'000000};

NewPartition At(const Layout& layout, const Step& step, UnixMicros moment) {
  NewPartition partition{};
  EXPECT_EQ(PartitionAt(layout, step, moment, &partition), Status::kOk);
  return partition;
}

NewPartition From(const Layout& layout, const Step& step, Id from) {
  NewPartition partition{};
  EXPECT_TRUE(PartitionFrom(layout, step, from, &partition));
  return partition;
}

TEST(PartitionPlanTest, APartitionHoldsItsPeriod) {
  const NewPartition november = At(kInstagram, kMonth, kNow);
  EXPECT_EQ(november.begins, kNovember);
  EXPECT_EQ(november.from, LeastOf(kInstagram, TimeAt(kInstagram, kNovember)));
  EXPECT_EQ(november.end, LeastOf(kInstagram, TimeAt(kInstagram, kDecember)));
  EXPECT_FALSE(november.is_last);
  const NewPartition december = From(kInstagram, kMonth, november.end);
  EXPECT_EQ(december.begins, kDecember);
  EXPECT_EQ(december.from, november.end);
}

TEST(PartitionPlanTest, TheFirstAfterAnotherWidthIsShorter) {
  const UnixMicros eighth{kNovember.value + 7 * calendar::kDayUs};
  const Id from = LeastOf(kInstagram, TimeAt(kInstagram, eighth));
  const NewPartition rest = From(kInstagram, kMonth, from);
  EXPECT_EQ(rest.begins, eighth);
  EXPECT_EQ(rest.from, from);
  EXPECT_EQ(rest.end, FirstIdFrom(kInstagram, kDecember));
  // An end in the middle of a unit: nothing is left out, nothing is twice.
  const NewPartition odd = From(kInstagram, kMonth, {from.value + 5});
  EXPECT_EQ(odd.begins, eighth);
  EXPECT_EQ(odd.from.value, from.value + 5);
}

TEST(PartitionPlanTest, WhatEndsBeforeAllIdsIsFollowedByTheFirst) {
  const NewPartition first = From(kInstagram, kMonth, {-5});
  EXPECT_EQ(first.from.value, 0);
  EXPECT_EQ(first.begins, kInstagram.epoch);
}

TEST(PartitionPlanTest, TheLastHasNoEnd) {
  const NewPartition last = At(kInstagram, kMonth, kInstagram.last_start);
  EXPECT_TRUE(last.is_last);
  const Layout js53 = MakeLayout(kNamedLayouts[8].spec);
  EXPECT_TRUE(At(js53, kMonth, js53.last_start).is_last);
  NewPartition none{};
  EXPECT_FALSE(PartitionFrom(js53, kMonth, {js53.max_id.value + 1}, &none));
  EXPECT_FALSE(PartitionFrom(kInstagram, kMonth, {INT64_MAX}, &none) && !none.is_last);
}

TEST(PartitionPlanTest, WhereTheLayoutHasNoTimeThereIsNone) {
  NewPartition none{};
  EXPECT_EQ(PartitionAt(kInstagram, kMonth, kInstagram.end, &none), Status::kTimeOutOfRange);
  EXPECT_EQ(PartitionAt(kInstagram, kMonth, {kInstagram.epoch.value - 1}, &none),
            Status::kTimeOutOfRange);
  EXPECT_EQ(PartitionAt(kInstagram, kMonth, {INT64_MAX}, &none), Status::kTimeOutOfRange);
  EXPECT_EQ(PartitionAt(kInstagram, kMonth, {INT64_MIN}, &none), Status::kTimeOutOfRange);
  // The month in which it begins.
  EXPECT_EQ(At(kInstagram, kMonth, kInstagram.epoch).from.value, 0);
}

TEST(PartitionPlanTest, UnitsThatBeginAtOtherTimesLieWhereTheyBegin) {
  // Seven hours, from noon on: some contain midnight.
  const Layout odd =
      MakeLayout({1767268800'000000, 7 * calendar::kHourUs, 30, 5, 20, kTimeShardSeq});
  NewPartition day = At(odd, kDay, kNow);
  for (int n = 0; n < 50; n++) {
    Parts first{}, last{};
    ASSERT_EQ(Decompose(odd, day.from, &first), Status::kOk);
    ASSERT_EQ(Decompose(odd, {day.end.value - 1}, &last), Status::kOk);
    EXPECT_GE(StartOf(odd, first.time), day.begins);
    EXPECT_LT(StartOf(odd, first.time).value, day.begins.value + odd.unit_us);
    EXPECT_LT(StartOf(odd, last.time).value, day.begins.value + calendar::kDayUs);
    EXPECT_EQ(PeriodAt(kDay, day.begins).start, day.begins) << "named by its day";
    day = From(odd, kDay, day.end);
  }
}

// Any layout in which time is first, any step that is no shorter than its unit: partitions follow
// one another without a gap, each has an ID, and they end with the layout.
TEST(PartitionPlanTest, PartitionsFollowOneAnother) {
  Random random{188};
  for (const Layout& layout : test::kLayouts) {
    for (const Step& step : {kMonth, kDay, kHour}) {
      if (LeastLength(step) < layout.unit_us) continue;
      for (int n = 0; n < 200; n++) {
        const UnixMicros moment{random.In(layout.epoch.value, layout.last_start.value)};
        const NewPartition one = At(layout, step, moment);
        ASSERT_LT(one.from, one.end);
        const Time time = TimeAt(layout, moment);
        const Id id = LeastOf(layout, time);
        ASSERT_TRUE(one.from <= id && id < one.end);
        if (one.is_last) continue;
        const NewPartition next = From(layout, step, one.end);
        ASSERT_EQ(next.from, one.end);
        ASSERT_EQ(next.begins, PeriodAt(step, StartOf(layout, time)).end);
      }
    }
  }
}

}  // namespace
}  // namespace snowid::core
