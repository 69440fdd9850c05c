// Tests of core/start_tick.hpp: what a new slot starts above, and what a watermark covers.
#include "core/start_tick.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

constexpr int64_t kSecond = 1000000;

// A unit of 10 ms is the longest of which a watermark covers a part.
constexpr Layout kElevenMillis = make_layout({1409529600000000, 11000, 39, 16, 8, 0});

UnixMicros At(const Layout& layout, int64_t us) { return {layout.epoch.value + us}; }

// The start above one of the times alone, the others being long ago.
SlotStart Above(UnixMicros SlotStart::*time, UnixMicros moment) {
  constexpr UnixMicros kLongAgo{INT64_MIN};
  SlotStart start{kLongAgo, kLongAgo, kLongAgo, kLongAgo};
  start.*time = moment;
  return start;
}

// What is removed is what both times allow.
SlotStart Swept(UnixMicros until, UnixMicros ceiling) {
  SlotStart start = Above(&SlotStart::swept, until);
  start.swept_ceiling = ceiling;
  return start;
}

TEST(StartTickTest, SkipsTheUnitOfTheFloor) {
  for (const Layout& layout : {kTwitter, kInstagram, kElevenMillis}) {
    const UnixMicros moment = At(layout, 60 * kSecond + 1);
    EXPECT_EQ(start_tick_of(layout, Above(&SlotStart::floor, moment)),
              last_tick_at(layout, moment));
  }
}

TEST(StartTickTest, IsBeforeTheFirstTickWithoutAny) {
  for (const Layout& layout : kLayouts)
    EXPECT_EQ(start_tick_of(layout, Swept({INT64_MIN}, {INT64_MIN})).value, 0u);
}

TEST(StartTickTest, SkipsSweptUnitsThatHaveEndedAndBegunBelowTheCeiling) {
  const UnixMicros now = At(kTwitter, 60 * kSecond);
  const UnixMicros later = At(kTwitter, 70 * kSecond);
  EXPECT_EQ(start_tick_of(kTwitter, Swept(now, later)), last_tick_before(kTwitter, now));
  EXPECT_EQ(start_tick_of(kTwitter, Swept(later, now)), last_tick_at(kTwitter, now));
  EXPECT_EQ(start_tick_of(kTwitter, Swept(now, {INT64_MIN})).value, 0u);
}

TEST(StartTickTest, SweptUnitsDoNotCountForTheDefaultLayout) {
  const UnixMicros now = At(kInstagram, 60 * kSecond);
  EXPECT_EQ(start_tick_of(kInstagram, Swept(now, now)).value, 0u);
}

TEST(StartTickTest, SkipsTheUnitOfAWatermarkIfItIsShort) {
  for (const Layout& layout : {kTwitter, kInstagram, kTenMillis}) {
    const UnixMicros moment = At(layout, 60 * kSecond);
    EXPECT_EQ(start_tick_of(layout, Above(&SlotStart::watermark, moment)),
              last_tick_at(layout, moment));
  }
  for (const Layout& layout : {kElevenMillis, kBaidu}) {
    const UnixMicros moment = At(layout, 60 * kSecond);
    EXPECT_EQ(start_tick_of(layout, Above(&SlotStart::watermark, moment)),
              last_tick_before(layout, moment));
  }
}

TEST(StartTickTest, IsTheGreatestOfAll) {
  Random random(1);
  for (int i = 0; i < 10000; i++) {
    const Layout layout = make_layout(RandomSpec(&random));
    const auto moment = [&] { return UnixMicros{RandomMoment(layout, &random)}; };
    const SlotStart start{moment(), moment(), moment(), moment()};
    const Tick tick = start_tick_of(layout, start);
    EXPECT_EQ(tick,
              std::max({start_tick_of(layout, Above(&SlotStart::floor, start.floor)),
                        start_tick_of(layout, Swept(start.swept, start.swept_ceiling)),
                        start_tick_of(layout, Above(&SlotStart::watermark, start.watermark))}));
    EXPECT_LE(tick, end_of(layout));
  }
}

TEST(WatermarkTest, IsTheGreatestIdInLayoutsOfShortUnits) {
  const Id greatest = compose(kTwitter, {{5000}, {3}, {7}});
  EXPECT_EQ(watermark_of(kTwitter, greatest, {4999}), greatest);
  EXPECT_EQ(watermark_of(kTwitter, greatest, {-1}), greatest);
  EXPECT_EQ(watermark_of(kTwitter, greatest, {5000}), greatest_id_of(kTwitter, {5000}));
}

TEST(WatermarkTest, LeavesTheUnitOfTheGreatestIdInOthers) {
  const Id greatest = compose(kBaidu, {{5000}, {3}, {7}});
  EXPECT_EQ(watermark_of(kBaidu, greatest, {10}), greatest_id_of(kBaidu, {4999}));
  EXPECT_EQ(watermark_of(kBaidu, greatest, {4999}), greatest_id_of(kBaidu, {4999}));
  EXPECT_EQ(watermark_of(kBaidu, greatest, {6000}), greatest_id_of(kBaidu, {6000}));
}

TEST(WatermarkTest, IsZeroBeforeTheFirstIdAndEndsWithTheLayout) {
  for (const Layout& layout : kLayouts) {
    EXPECT_EQ(watermark_of(layout, {0}, {-1}).value, 0);
    EXPECT_EQ(watermark_of(layout, {0}, {layout.max_time.value + 1}),
              greatest_id_of(layout, layout.max_time));
  }
}

}  // namespace
}  // namespace snowid::core::test
