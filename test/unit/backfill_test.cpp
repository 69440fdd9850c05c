// Tests of core/backfill.hpp: IDs of old rows have the times of their rows wherever there is room,
// and are distinct and in order wherever there is not; and of TickBelow, which says where a shard
// goes on above keys that are there.
#include "core/backfill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

// Two sequences a unit, of 1 ms, from 1970 on.
constexpr Layout kTwo = make_layout({0, 1000, 10, 3, 1, kTimeShardSeq});

// The ticks of a run, as time * 10 + sequence.
std::vector<int64_t> TicksOf(const Layout& layout, std::vector<int64_t> moments) {
  Backfill run{};
  std::vector<int64_t> ticks;
  for (const int64_t moment : moments) {
    Tick tick{};
    EXPECT_EQ(next_of(layout, {moment}, &run, &tick), Status::kOk);
    ticks.push_back(time_of(layout, tick).value * 10 +
                    static_cast<int64_t>(sequence_of(layout, tick).value));
  }
  return ticks;
}

TEST(Backfill, EachUnitBeginsWithSequenceZero) {
  EXPECT_EQ(TicksOf(kTwo, {1000, 2000, 2999, 3000, 9000}),
            (std::vector<int64_t>{10, 20, 21, 30, 90}));
}

TEST(Backfill, WhereAUnitIsFullItGoesOnInTheNext) {
  EXPECT_EQ(TicksOf(kTwo, {1000, 1000, 1000, 1000, 1000}),
            (std::vector<int64_t>{10, 11, 20, 21, 30}));
}

TEST(Backfill, TimesInUsedUnitsGoOnAbove) {
  EXPECT_EQ(TicksOf(kTwo, {1000, 1000, 1000, 2000, 2000, 3000, 3000, 7000}),
            (std::vector<int64_t>{10, 11, 20, 21, 30, 31, 40, 70}));
}

TEST(Backfill, TheFirstTickOfALayoutCounts) {
  EXPECT_EQ(TicksOf(kTwo, {0, 0, 0}), (std::vector<int64_t>{0, 1, 10}));
}

TEST(Backfill, FiveThousandOfOneMomentAreFiveThousandIds) {
  Backfill run{};
  Tick tick{};
  Tick before{};
  for (int i = 0; i < 5000; i++) {
    ASSERT_EQ(next_of(kInstagram, {1700000000000000}, &run, &tick), Status::kOk);
    ASSERT_TRUE(i == 0 || tick.value == before.value + 1);
    before = tick;
  }
  EXPECT_EQ(start_of(kInstagram, time_of(kInstagram, tick)).value, 1700000000000000 + 4000);
}

TEST(Backfill, ATimeThatTheLayoutCannotHoldIsRefusedAndForgotten) {
  Backfill run{};
  Tick tick{77};
  EXPECT_EQ(next_of(kTwo, {-1}, &run, &tick), Status::kTimeOutOfRange);
  EXPECT_EQ(next_of(kTwo, kTwo.end, &run, &tick), Status::kTimeOutOfRange);
  EXPECT_FALSE(run.begun);
  const UnixMicros last = kTwo.last_start;
  EXPECT_EQ(next_of(kTwo, last, &run, &tick), Status::kOk);
  EXPECT_EQ(next_of(kTwo, last, &run, &tick), Status::kOk);
  const Tick greatest = tick;
  EXPECT_EQ(next_of(kTwo, last, &run, &tick), Status::kTimeOutOfRange);
  EXPECT_EQ(run.last, greatest);
  EXPECT_EQ(tick, greatest);
}

// Increasing ticks, none before its row's unit, and each as early as it can be.
TEST(Backfill, PropertiesOfRandomRuns) {
  Random random(20260101);
  for (const Layout& layout : {kTwo, kInstagram, kNoShard, kTwitter}) {
    Backfill run{};
    Tick before{};
    UnixMicros moment = layout.epoch;
    for (int i = 0; i < 400; i++) {
      moment.value += static_cast<int64_t>(random.Below(4)) * layout.unit_us / 2;
      Tick tick{};
      ASSERT_EQ(next_of(layout, moment, &run, &tick), Status::kOk);
      const Tick own = make_tick(layout, time_at(layout, moment), {0});
      const Tick least = i == 0 ? own : std::max(own, Tick{before.value + 1});
      ASSERT_EQ(tick, least);
      before = tick;
    }
  }
}

// Against all IDs of small layouts, counted out.
TEST(TickBelow, IsTheLeastTickAboveWhichAllIdsAreGreater) {
  const Layout layouts[] = {make_layout({0, 1000, 3, 2, 2, kTimeShardSeq}),
                            make_layout({0, 1000, 3, 2, 2, kTimeSeqShard}),
                            make_layout({0, 1000, 3, 0, 2, kTimeShardSeq})};
  for (const Layout& layout : layouts) {
    const uint64_t ticks = uint64_t{1} << 5;
    for (int64_t id = 0; id <= layout.max_id.value; id++) {
      Parts parts{};
      ASSERT_EQ(decompose(layout, {id}, &parts), Status::kOk);
      for (uint64_t shard = 0; shard <= layout.max_shard.value; shard++) {
        const Tick below = tick_below(layout, {shard}, parts);
        for (uint64_t tick = below.value + 1; tick < ticks; tick++)
          ASSERT_GT(id_of(layout, {shard}, {tick}).value, id);
        // One less would not do.
        if (below.value == 0) continue;
        ASSERT_LE(id_of(layout, {shard}, below).value, id);
      }
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
