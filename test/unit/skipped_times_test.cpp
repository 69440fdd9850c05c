// Tests of core/skipped_times.hpp: which times are skipped, and how IDs step over them.
#include "core/skipped_times.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "core/tick.hpp"

namespace snowid::core {
namespace {

constexpr int64_t kSecond = 1000000;
constexpr int64_t kEarly = 10 * kSecond;
constexpr UnixMicros kNever{INT64_MAX};

UnixMicros At(int64_t seconds) { return {(1700000000 + seconds) * kSecond}; }

SkippedRange Between(int64_t from, int64_t until) { return {At(from), At(until)}; }

using Bounds = std::vector<int64_t>;

// The bounds of ranges that were joined, in their order.
Bounds Joined(std::vector<SkippedRange> ranges, UnixMicros clock = At(0)) {
  Bounds bounds;
  const int64_t count =
      join_ranges(ranges.data(), static_cast<int64_t>(ranges.size()), clock, kEarly);
  for (int64_t i = 0; i < count; i++) {
    bounds.push_back(ranges[i].from.value / kSecond - 1700000000);
    bounds.push_back(ranges[i].until.value / kSecond - 1700000000);
  }
  return bounds;
}

SkippedTimes Of(const std::vector<SkippedRange>& all) {
  SkippedTimes times{};
  for (const SkippedRange& range : all) times.at[times.count++] = range;
  return times;
}

TEST(SkippedTimesTest, RangesAreInTheirOrder) {
  EXPECT_EQ(Joined({}), (Bounds{}));
  EXPECT_EQ(Joined({Between(10, 20)}), (Bounds{10, 20}));
  EXPECT_EQ(Joined({Between(500, 510), Between(100, 120), Between(300, 300)}),
            (Bounds{100, 120, 300, 300, 500, 510}));
}

TEST(SkippedTimesTest, ThoseThatMeetBecomeOne) {
  EXPECT_EQ(Joined({Between(10, 20), Between(20, 30)}), (Bounds{10, 30}));
  EXPECT_EQ(Joined({Between(10, 40), Between(20, 30)}), (Bounds{10, 40}));
  EXPECT_EQ(Joined({Between(10, 20), Between(10, 20)}), (Bounds{10, 20}));
}

// Above the first one IDs go on as fast as the clock, at most, until it has passed its end.
TEST(SkippedTimesTest, ThoseThatIDsCouldRunIntoBecomeOne) {
  EXPECT_EQ(Joined({Between(100, 200), Between(310, 320)}), (Bounds{100, 320}));
  EXPECT_EQ(Joined({Between(100, 200), Between(311, 320)}), (Bounds{100, 200, 311, 320}));
  // Once two have become one, that one is longer.
  EXPECT_EQ(Joined({Between(100, 200), Between(300, 310), Between(530, 540)}), (Bounds{100, 540}));
  // One that is past does not matter any more.
  EXPECT_EQ(Joined({Between(100, 200), Between(250, 320)}, At(201)), (Bounds{100, 200, 250, 320}));
  EXPECT_EQ(Joined({Between(100, 200), Between(200, 320)}, At(201)), (Bounds{100, 320}));
  // The length of the later one does not matter.
  EXPECT_EQ(Joined({Between(100, 101), Between(120, 900)}), (Bounds{100, 101, 120, 900}));
}

TEST(SkippedTimesTest, BothEndsAreInIt) {
  const SkippedTimes times = Of({Between(10, 20), Between(500, 510)});
  EXPECT_EQ(range_at(times, {At(10).value - 1}), nullptr);
  EXPECT_EQ(range_at(times, At(10)), &times.at[0]);
  EXPECT_EQ(range_at(times, At(20)), &times.at[0]);
  EXPECT_EQ(range_at(times, {At(20).value + 1}), nullptr);
  EXPECT_EQ(range_at(times, At(505)), &times.at[1]);
}

TEST(SkippedTimesTest, AUnitIsSkippedThatHasAPartInOne) {
  Layout layout = kInstagram;
  layout.unit_us = 10 * kSecond;
  const SkippedTimes times = Of({Between(100, 200), Between(500, 500)});
  EXPECT_FALSE(is_skipped_unit(times, layout, At(90)));
  EXPECT_TRUE(is_skipped_unit(times, layout, {At(90).value + 1}));
  EXPECT_TRUE(is_skipped_unit(times, layout, At(200)));
  EXPECT_FALSE(is_skipped_unit(times, layout, {At(200).value + 1}));
  EXPECT_TRUE(is_skipped_unit(times, layout, At(495)));
}

// The fast path, which knows only of one moment, issues no unit that has a part in a range that
// was not stepped over, however long units are.
TEST(SkippedTimesTest, TheQuickPathEndsALongestUnitBefore) {
  const SkippedTimes times = Of({Between(1000000, 1000010), Between(2000000, 2000010)});
  const int64_t longest = static_cast<int64_t>(kLongestUnitUs);
  EXPECT_EQ(unlifted_until(times, At(0)).value, At(1000000).value - longest);
  EXPECT_EQ(unlifted_until(times, {At(1000010).value - 1}).value, At(1000000).value - longest);
  EXPECT_EQ(unlifted_until(times, At(1000010)).value, At(2000000).value - longest);
  EXPECT_EQ(unlifted_until(times, At(2000010)), kNever);
  EXPECT_EQ(unlifted_until(SkippedTimes{}, At(0)), kNever);
}

TEST(SkippedTimesTest, ARangeIsDueOnceUntilTheFloorIsAtItsEnd) {
  const SkippedTimes times = Of({Between(100, 200), Between(500, 600)});
  EXPECT_EQ(due_at(times, {At(90).value - 1}, At(0), kEarly), nullptr);
  EXPECT_EQ(due_at(times, At(90), At(0), kEarly), &times.at[0]);
  EXPECT_EQ(due_at(times, At(150), {At(200).value - 1}, kEarly), &times.at[0]);
  EXPECT_EQ(due_at(times, At(150), At(200), kEarly), nullptr);
  // Also where the clock has passed it: a long unit may have begun in it.
  EXPECT_EQ(due_at(times, At(300), At(0), kEarly), &times.at[0]);
  EXPECT_EQ(due_at(times, At(550), At(200), kEarly), &times.at[1]);
}

TEST(SkippedTimesTest, WhatIsAheadIsTheFirstThatWasNotSteppedOver) {
  const SkippedTimes times = Of({Between(100, 200), Between(500, 600)});
  EXPECT_EQ(range_ahead(times, At(0)), &times.at[0]);
  EXPECT_EQ(range_ahead(times, At(200)), &times.at[1]);
  EXPECT_EQ(range_ahead(times, At(600)), nullptr);
}

TEST(SkippedTimesTest, WhileOneIsSteppedOverIDsMayBeAheadByItsRestAndWhatTheClockHasGone) {
  const SkippedTimes times = Of({Between(100, 200), Between(900, 910)});
  const auto from = [&](int64_t clock) { return lead_begin(times, At(clock), At(200), kEarly); };
  EXPECT_EQ(lead_begin(times, {At(80).value - 1}, At(200), kEarly).value, At(80).value - 1);
  EXPECT_EQ(from(80), At(190));
  EXPECT_EQ(from(89), At(199));  // a clock that has gone back a little
  EXPECT_EQ(from(90), At(200));
  EXPECT_EQ(from(150), At(260));
  EXPECT_EQ(from(200), At(310));
  EXPECT_EQ(lead_begin(times, {At(200).value + 1}, At(200), kEarly).value, At(200).value + 1);
  EXPECT_EQ(from(905), At(905));  // not stepped over yet
  // Not before it was stepped over: then IDs wait.
  EXPECT_EQ(lead_begin(times, At(150), At(199), kEarly), At(150));
}

TEST(SkippedTimesTest, TicksAreLiftedTenSecondsAndTheLongestUnitEarlyAnHourAtMost) {
  EXPECT_EQ(lift_early_by(0), 10 * kSecond);
  EXPECT_EQ(lift_early_by(60 * kSecond), 70 * kSecond);
  EXPECT_EQ(lift_early_by(3600 * kSecond - 1), 3610 * kSecond - 1);
  EXPECT_EQ(lift_early_by(3600 * kSecond), 3610 * kSecond);
  EXPECT_EQ(lift_early_by(3600 * kSecond + 1), 3610 * kSecond);
}

TEST(SkippedTimesTest, IDsOfTheRightClockAreTwoSecondsAheadAtMost) {
  EXPECT_EQ(right_until(At(0)), At(2));
}

TEST(SkippedTimesTest, ARangeIsStatedThatBeginsMoreThanTenSecondsAhead) {
  const SkippedRange range = Between(100, 200);
  EXPECT_FALSE(is_too_near(range, {At(90).value - 1}));
  EXPECT_TRUE(is_too_near(range, At(90)));
  EXPECT_TRUE(is_too_near(range, At(150)));
  EXPECT_TRUE(is_too_near(range, At(300)));
  EXPECT_TRUE(is_too_near({{0}, {0}}, At(0)));
}

TEST(SkippedTimesTest, ARangeIsForgottenThatIsPastByADayAndMore) {
  constexpr int64_t kDay = 86400;
  const SkippedRange range = Between(100, 200);
  EXPECT_FALSE(is_long_past(range, At(0), kEarly));
  EXPECT_FALSE(is_long_past(range, At(210 + kDay), kEarly));
  EXPECT_TRUE(is_long_past(range, {At(210 + kDay).value + 1}, kEarly));
}

TEST(SkippedTimesTest, AnIDWaitsForTheClockBeyondTheLead) {
  const UnixMicros never{INT64_MAX};
  const IssueLimits limits{At(100), At(100), never, never};
  EXPECT_EQ(wait_us_for(At(101), limits, kSecond), 0);
  EXPECT_EQ(wait_us_for(At(103), limits, kSecond), 2 * kSecond);
  EXPECT_LT(wait_us_for(At(99), limits, kSecond), 0);
  // Above a range that has been stepped over the lead counts from there.
  EXPECT_EQ(wait_us_for(At(203), {At(100), At(202), never, never}, kSecond), 0);
}

TEST(SkippedTimesTest, AnIDThatWouldComeToARangeWaitsUntilThatIsSteppedOver) {
  const IssueLimits limits{At(80), At(80), At(99), At(90)};
  EXPECT_LE(wait_us_for(At(99), limits, 30 * kSecond), 0);
  EXPECT_EQ(wait_us_for(At(100), limits, 30 * kSecond), 10 * kSecond);
  // Where the lead has it wait for longer, so long.
  EXPECT_EQ(wait_us_for(At(100), limits, kSecond), 19 * kSecond);
}

// A clock that goes its way, and back at times, beside a few IDs and many: none gets a skipped
// time, none comes again, most are not refused.
TEST(SkippedTimesTest, NoIDGetsASkippedTime) {
  const SkippedTimes times = Of({Between(100, 200), Between(311, 315), Between(500, 501)});
  for (const int64_t per_second : {1, 500}) {
    std::atomic<uint64_t> tick{last_tick_at(kInstagram, At(0)).value};
    UnixMicros floor = At(0);
    UnixMicros clock = At(1);
    uint64_t refused = 0;
    for (int step = 0; step < 700; step++) {
      clock.value += kSecond;
      if (step % 97 == 96) clock.value -= 5 * kSecond;
      for (int64_t i = 0; i < per_second; i++) {
        while (const SkippedRange* due = due_at(times, clock, floor, kEarly)) {
          floor = due->until;
          raise_to(tick, last_tick_at(kInstagram, floor));
        }
        const SkippedRange* ahead = range_ahead(times, floor);
        UnixMicros limit{lead_begin(times, clock, floor, kEarly).value + kSecond};
        if (ahead != nullptr)
          limit = std::min(limit, UnixMicros{ahead->from.value - kInstagram.unit_us});
        const uint64_t before = tick;
        const Grant grant = take(tick, kInstagram, time_at(kInstagram, clock), limit, 1024);
        refused += grant.count == 0;
        if (grant.count == 0) continue;
        ASSERT_GT(grant.first.value, before);
        for (const uint64_t at : {grant.first.value, grant.first.value + grant.count - 1})
          ASSERT_FALSE(
              is_skipped_unit(times, kInstagram, start_of(kInstagram, time_of(kInstagram, {at}))));
      }
    }
    // A clock that goes back by five seconds is ahead of nobody's lead for as long.
    EXPECT_LT(refused, static_cast<uint64_t>(700 * per_second / 5)) << per_second;
  }
}

}  // namespace
}  // namespace snowid::core
