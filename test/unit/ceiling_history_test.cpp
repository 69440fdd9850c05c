// Tests of core/ceiling_history.hpp: up to when there may be IDs of before a clock ran ahead.
#include "core/ceiling_history.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "random.hpp"

namespace snowid::core {
namespace {

constexpr int64_t kGap = CeilingHistory::kShortestGapMillis;

using Bounds = std::vector<int64_t>;

Bounds BoundsOf(const CeilingHistory& history) {
  Bounds bounds;
  for (int64_t i = 0; i < history.count; i++) {
    bounds.push_back(history.runs[i].from.value);
    bounds.push_back(history.runs[i].until.value);
  }
  return bounds;
}

CeilingHistory Of(const Bounds& bounds) {
  CeilingHistory history{};
  for (size_t i = 0; i < bounds.size(); i += 2) AddRun(&history, {bounds[i]}, {bounds[i + 1]});
  return history;
}

TEST(CeilingHistoryTest, ShortGapsAreNone) {
  EXPECT_EQ(BoundsOf(Of({100, 200, 200 + kGap - 1, 50000, 40000, 60000})), (Bounds{100, 60000}));
  EXPECT_EQ(BoundsOf(Of({100, 200, 200 + kGap, 50000})), (Bounds{100, 200, 200 + kGap, 50000}));
  EXPECT_EQ(BoundsOf(Of({100, 200, 150, 180})), (Bounds{100, 200}));
}

TEST(CeilingHistoryTest, BeforeAMomentIsTheEndOfTheRunBeforeIt) {
  const CeilingHistory history = Of({1000, 2000, 50000, 60000, 900000, 900000});
  EXPECT_EQ(LastBefore(history, {1000}), UnixMillis{0});
  EXPECT_EQ(LastBefore(history, {2001}), UnixMillis{2000});
  EXPECT_EQ(LastBefore(history, {50000}), UnixMillis{2000});
  EXPECT_EQ(LastBefore(history, {50001}), UnixMillis{50000});
  EXPECT_EQ(LastBefore(history, {900000}), UnixMillis{60000});
  EXPECT_EQ(LastBefore(history, {900001}), UnixMillis{900000});
  EXPECT_EQ(RunAround(history, {50000}), nullptr);
  EXPECT_EQ(RunAround(history, {50001})->from, UnixMillis{50000});
  EXPECT_EQ(RunAround(history, {60000})->from, UnixMillis{50000});
  EXPECT_EQ(RunAround(history, {60001}), nullptr);
}

TEST(CeilingHistoryTest, WhatIsCutIsForgotten) {
  CeilingHistory history = Of({1000, 2000, 50000, 60000, 900000, 900000});
  CutAt(&history, {55000});
  EXPECT_EQ(BoundsOf(history), (Bounds{1000, 2000, 50000, 55000}));
  CutAt(&history, {49999});
  EXPECT_EQ(BoundsOf(history), (Bounds{1000, 2000}));
  CutAt(&history, {999});
  EXPECT_EQ(history.count, 0);
}

// Whatever is drawn, no time that was used before a moment is above what is said; and where the
// moment follows one of the last gaps, or one that is longer than all before but a few, what is
// said is the beginning of it.
TEST(CeilingHistoryTest, NothingUsedIsEverLeftOut) {
  constexpr int kHalf = CeilingHistory::kMost / 2;
  test::Random random(20240229);
  for (int round = 0; round < 200; round++) {
    CeilingHistory history{};
    std::vector<CeilingRun> all;
    int64_t now = 1000000;
    const auto draw = [&](int64_t gap) {
      now += gap;
      const int64_t from = now;
      now += static_cast<int64_t>(random.Below(5000));
      AddRun(&history, {from}, {now});
      all.push_back({{from}, {now}});
    };
    for (int i = 0; i < 300; i++) draw(kGap + static_cast<int64_t>(random.Below(40000)));
    const size_t jump = all.size();
    draw(100000);
    for (int i = 0; i < 300; i++) draw(kGap + static_cast<int64_t>(random.Below(40000)));
    for (size_t i = 1; i < all.size(); i++) {
      const int64_t last = LastBefore(history, all[i].from).value;
      EXPECT_GE(last, all[i - 1].until.value);
      if (i == jump || i > all.size() - kHalf) {
        EXPECT_EQ(last, all[i - 1].until.value) << i;
      }
    }
    EXPECT_EQ(history.count, CeilingHistory::kMost);
  }
}

}  // namespace
}  // namespace snowid::core
