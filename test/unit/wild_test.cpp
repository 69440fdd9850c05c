// Tests of core/wild.hpp: which times are wild, and how IDs step over them.
#include "core/wild.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/tick.hpp"

namespace snowid::core {
namespace {

constexpr int64_t kSecond = 1000000;

UnixMicros At(int64_t seconds) { return {(1700000000 + seconds) * kSecond}; }

Wild Between(int64_t from, int64_t until) { return {At(from), At(until), At(from - 1000)}; }

// The bounds of the intervals, in their order.
std::vector<int64_t> BoundsOf(const WildTimes& times) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i < times.count; i++) {
    bounds.push_back(times.at[i].from.value / kSecond - 1700000000);
    bounds.push_back(times.at[i].until.value / kSecond - 1700000000);
  }
  return bounds;
}

WildTimes Of(const std::vector<Wild>& all) {
  WildTimes times{};
  for (const Wild& wild : all) AddWild(&times, wild);
  return times;
}

using Bounds = std::vector<int64_t>;

TEST(WildTest, IntervalsAreKeptInTheirOrder) {
  EXPECT_EQ(BoundsOf(Of({Between(30, 40), Between(10, 20), Between(50, 60)})),
            (Bounds{10, 20, 30, 40, 50, 60}));
}

TEST(WildTest, ThoseThatMeetBecomeOne) {
  EXPECT_EQ(BoundsOf(Of({Between(10, 20), Between(20, 30)})), (Bounds{10, 30}));
  EXPECT_EQ(BoundsOf(Of({Between(10, 20), Between(30, 40), Between(15, 35)})), (Bounds{10, 40}));
  EXPECT_EQ(BoundsOf(Of({Between(10, 40), Between(20, 30)})), (Bounds{10, 40}));
  EXPECT_EQ(BoundsOf(Of({Between(10, 20), Between(10, 20)})), (Bounds{10, 20}));
}

TEST(WildTest, WhatWasRewoundToIsTheLatestOfThem) {
  const WildTimes times = Of({{At(10), At(20), At(3)}, {At(15), At(30), At(5)}});
  EXPECT_EQ(times.at[0].rewound_to, At(5));
}

TEST(WildTest, WhatThereIsNoRoomForIsSteppedOverAllTheSame) {
  std::vector<Wild> all;
  for (int i = 0; i < WildTimes::kMost + 2; i++) all.push_back(Between(20 * i, 20 * i + 10));
  for (const bool backwards : {false, true}) {
    if (backwards) std::reverse(all.begin(), all.end());
    const WildTimes times = Of(all);
    EXPECT_EQ(times.count, WildTimes::kMost);
    // The first three have become one.
    for (const int64_t second : {0, 10, 15, 20, 35, 40, 50, 60, 70})
      EXPECT_NE(WildAt(times, At(second)), nullptr) << second;
    for (const int64_t second : {-1, 51, 59, 71})
      EXPECT_EQ(WildAt(times, At(second)), nullptr) << second;
    EXPECT_EQ(times.at[times.count - 1].until, At(20 * (WildTimes::kMost + 1) + 10));
  }
}

TEST(WildTest, WhereThereIsNoRoomTheShortestGapGoes) {
  std::vector<Wild> all;
  for (int i = 0; i < WildTimes::kMost; i++) all.push_back(Between(20 * i, 20 * i + 10));
  all.push_back(Between(20 * 7 + 15, 20 * 7 + 16));
  const WildTimes times = Of(all);
  EXPECT_EQ(times.count, WildTimes::kMost);
  EXPECT_EQ(times.at[7].until, At(150));
  EXPECT_EQ(times.at[8].from, At(155));
  EXPECT_EQ(times.at[8].until, At(170));
  for (const int64_t second : {11, 139, 152, 171, 20 * (WildTimes::kMost - 1) - 1})
    EXPECT_EQ(WildAt(times, At(second)), nullptr) << second;
}

TEST(WildTest, BothEndsAreInIt) {
  const WildTimes times = Of({Between(10, 20)});
  EXPECT_EQ(WildAt(times, {At(10).value - 1}), nullptr);
  EXPECT_NE(WildAt(times, At(10)), nullptr);
  EXPECT_NE(WildAt(times, At(20)), nullptr);
  EXPECT_EQ(WildAt(times, {At(20).value + 1}), nullptr);
}

TEST(WildTest, TheNextOneBeginsLater) {
  const WildTimes times = Of({Between(10, 20), Between(30, 40)});
  EXPECT_EQ(WildAfter(times, At(9))->from, At(10));
  EXPECT_EQ(WildAfter(times, At(10))->from, At(30));
  EXPECT_EQ(WildAfter(times, At(30)), nullptr);
}

TEST(WildTest, TheCeilingIsNeverInOne) {
  const WildTimes times = Of({Between(10, 20)});
  const auto millis = [](int64_t second) { return UnixMillis{At(second).value / 1000}; };
  EXPECT_EQ(ShortOf(times, At(5), millis(9)), millis(9));
  EXPECT_EQ(ShortOf(times, At(5), millis(10)), UnixMillis{millis(10).value - 1});
  EXPECT_EQ(ShortOf(times, At(5), millis(25)), UnixMillis{millis(10).value - 1});
  EXPECT_EQ(ShortOf(times, At(21), millis(25)), millis(25));
  EXPECT_EQ(Beyond(times, millis(9)), millis(9));
  EXPECT_EQ(Beyond(times, millis(10)), UnixMillis{millis(20).value + 1});
  EXPECT_EQ(Beyond(times, millis(20)), UnixMillis{millis(20).value + 1});
  EXPECT_EQ(Beyond(times, millis(21)), millis(21));
}

TEST(WildTest, AUnitTouchesWhatItHasAPartIn) {
  Layout layout = kInstagram;
  layout.unit_us = 10 * kSecond;
  const Wild wild = Between(100, 200);
  EXPECT_FALSE(Touches(layout, wild, At(90)));
  EXPECT_TRUE(Touches(layout, wild, {At(90).value + 1}));
  EXPECT_TRUE(Touches(layout, wild, At(200)));
  EXPECT_FALSE(Touches(layout, wild, {At(200).value + 1}));
}

TEST(WildTest, TheClockGoesOnBeyondItAtHalfItsSpeedUntilItHasCaughtUp) {
  const Wild wild = Between(100, 200);
  const int64_t soon_us = 6 * kSecond;
  const auto clock = [&](int64_t second) { return ClockBeyond(wild, At(second), soon_us); };
  EXPECT_EQ(clock(93), At(93));
  const UnixMicros end{At(200).value + kInstagram.unit_us};
  EXPECT_EQ(clock(94), end);
  EXPECT_EQ(clock(96).value, end.value + kSecond);
  EXPECT_EQ(clock(200).value, end.value + 53 * kSecond);
  EXPECT_EQ(clock(306).value, end.value + 106 * kSecond);
  EXPECT_EQ(clock(307), At(307));
  // It never goes back, and what it shows never lies in the interval.
  UnixMicros last{0};
  for (int64_t second = 80; second < 400; second++) {
    EXPECT_GT(clock(second), last);
    EXPECT_FALSE(Touches(kInstagram, wild, StartOf(kInstagram, TimeAt(kInstagram, clock(second)))));
    last = clock(second);
  }
}

}  // namespace
}  // namespace snowid::core
