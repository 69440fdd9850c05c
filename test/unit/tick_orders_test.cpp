// Tests of core/tick.hpp over random specifications: whatever the fields' order and widths, a
// shard's ticks are given once each, in order, within the limit and the layout's time, as IDs that
// are not negative.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "core/tick.hpp"
#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

constexpr int kSpecs = 10000;

TEST(RandomTicks, AreTimeAndSequence) {
  Random random(1);
  for (int i = 0; i < 10 * kSpecs; i++) {
    const Layout layout = make_layout(RandomSpec(&random));
    const Parts parts = RandomParts(layout, &random);
    const Tick tick = make_tick(layout, parts.time, parts.sequence);
    const Wide expected =
        Wide{parts.time.value} * (Wide{ExactMaxSequence(layout)} + 1) + parts.sequence.value;
    if (Wide{tick.value} != expected || time_of(layout, tick) != parts.time ||
        sequence_of(layout, tick) != parts.sequence ||
        id_of(layout, parts.shard, tick) != compose(layout, parts))
      FAIL() << parts.time.value << " " << parts.sequence.value << " in order "
             << layout.spec.order();
  }
}

TEST(RandomTicks, BeforeAMomentAreThoseOfUnitsThatHaveEnded) {
  Random random(3);
  for (int i = 0; i < 10 * kSpecs; i++) {
    const Layout layout = make_layout(RandomSpec(&random));
    const Time time = RandomParts(layout, &random).time;
    const Tick before =
        time.value == 0 ? Tick{0} : make_tick(layout, {time.value - 1}, layout.max_sequence);
    const UnixMicros begin = start_of(layout, time);
    const UnixMicros last{begin.value + layout.unit_us - 1};
    if (last_tick_before(layout, begin) != before || last_tick_before(layout, last) != before)
      FAIL() << time.value << " in units of " << layout.unit_us;
    if (before.value > 0 &&
        last_tick_before(layout, begin) != last_tick_at(layout, {begin.value - 1}))
      FAIL() << time.value;
  }
  EXPECT_EQ(last_tick_before(kInstagram, {0}), Tick{0});
  EXPECT_EQ(last_tick_before(kInstagram, {INT64_MIN}), Tick{0});
  EXPECT_EQ(last_tick_before(kInstagram, {INT64_MAX}), last_tick_at(kInstagram, {INT64_MAX}));
}

TEST(RandomTicks, AreInTheOrderOfIdsWhereTimeIsAboveTheSequence) {
  Random random(2);
  for (int i = 0; i < 10 * kSpecs; i++) {
    const Layout layout = make_layout(RandomSpec(&random));
    const ExactFields exact(layout.spec);
    if (exact.PlaceOf('T') > exact.PlaceOf('Q')) continue;
    const Parts a = RandomParts(layout, &random);
    const Parts b = RandomParts(layout, &random);
    const Tick tick_a = make_tick(layout, a.time, a.sequence);
    const Tick tick_b = make_tick(layout, b.time, b.sequence);
    if ((tick_a <=> tick_b) != (id_of(layout, a.shard, tick_a) <=> id_of(layout, a.shard, tick_b)))
      FAIL() << tick_a.value << " " << tick_b.value << " in order " << layout.spec.order();
  }
}

TEST(RandomTicks, LastTickIsThatOfTheUnitThatHoldsTheMoment) {
  Random random(3);
  for (int i = 0; i < 10 * kSpecs; i++) {
    const Layout layout = make_layout(RandomSpec(&random));
    const int64_t moment = RandomMoment(layout, &random);
    const Wide time = std::min<Wide>(ExactTime(layout, moment), ExactMaxTime(layout));
    const Wide expected = time < 0 ? 0 : (time + 1) * (Wide{ExactMaxSequence(layout)} + 1) - 1;
    if (Wide{last_tick_at(layout, {moment}).value} != expected)
      FAIL() << moment << " in order " << layout.spec.order();
  }
}

// The tick that Take is to begin with, by plain arithmetic: after the last one, in the clock's unit
// where that has none yet, and all in one unit where that is asked for.
Wide ExactFirst(const Layout& layout, Wide last, int64_t now, uint32_t want, Span span) {
  const Wide sequences = Wide{ExactMaxSequence(layout)} + 1;
  Wide first = last + 1;
  const bool is_fresh = now > last / sequences;
  if (is_fresh)
    first = now * sequences + (layout.spec.unit_us() <= 1000000 ? (last + 1) % sequences : 0);
  if (span == Span::kOneUnit && first % sequences + want > sequences)
    first = (is_fresh ? Wide{now} : last / sequences + 1) * sequences;
  return first;
}

// Takes again and again from one shard under a clock and a limit that jump, and checks all of it.
void TakeFromOneShard(const Layout& layout, Random* random) {
  const Wide sequences = Wide{ExactMaxSequence(layout)} + 1;
  const Wide end = (Wide{ExactMaxTime(layout)} + 1) * sequences;  // no tick from here on
  const ExactFields exact(layout.spec);
  const Parts start = RandomParts(layout, random);
  std::atomic<uint64_t> word{make_tick(layout, start.time, start.sequence).value};
  for (int i = 0; i < 20; i++) {
    const Wide last = word.load();
    const Wide last_time = last / sequences;
    const Wide now_near = std::min(last_time + random->In(-2, 2), Wide{layout.max_time.value} + 1);
    const int64_t now = random->Below(8) == 0
                            ? time_at(layout, {RandomMoment(layout, random)}).value
                            : static_cast<int64_t>(now_near);
    const Wide limit_near = ExactStart(layout, std::max<Wide>(now, last_time) + random->In(-1, 4)) +
                            random->In(-1, layout.unit_us);
    const int64_t limit = random->Below(4) == 0
                              ? RandomMoment(layout, random)
                              : static_cast<int64_t>(std::min<Wide>(limit_near, INT64_MAX));
    const Span span = random->Below(2) == 0 ? Span::kAny : Span::kOneUnit;
    const Wide most = span == Span::kAny ? 4 * sequences : sequences;
    const uint32_t want = 1 + static_cast<uint32_t>(random->UpTo(
                                  static_cast<uint64_t>(std::min<Wide>(most, UINT32_MAX) - 1)));

    const Wide first = ExactFirst(layout, last, now, want, span);
    // The first tick of the first unit that begins after the limit, or of none.
    const Wide limit_end = std::clamp<Wide>((ExactTime(layout, limit) + 1) * sequences, 0, end);
    Wide count = std::clamp<Wide>(limit_end - first, 0, want);
    if (span == Span::kOneUnit && count < want) count = 0;

    const Grant grant = take(word, layout, {now}, {limit}, want, span);
    ASSERT_EQ(grant.count, static_cast<uint32_t>(count));
    ASSERT_EQ(grant.first.value, static_cast<uint64_t>(first));
    if (count == 0) {
      ASSERT_EQ(word.load(), static_cast<uint64_t>(last));
      continue;
    }
    ASSERT_EQ(word.load(), static_cast<uint64_t>(first + count - 1));
    const Id first_id = id_of(layout, start.shard, grant.first);
    const Id last_id = id_of(layout, start.shard, {word.load()});
    for (const Id id : {first_id, last_id}) {
      Parts parts{};
      ASSERT_EQ(decompose(layout, id, &parts), Status::kOk);
      ASSERT_EQ(parts.shard, start.shard);
      ASSERT_LE(start_of(layout, parts.time).value, limit);
    }
    if (exact.PlaceOf('T') > exact.PlaceOf('Q')) continue;
    ASSERT_GT(first_id, id_of(layout, start.shard, {static_cast<uint64_t>(last)}));
    ASSERT_GE(last_id, first_id);
  }
}

TEST(RandomTicks, AreTakenOnceEachUpToTheLimitAndTheEnd) {
  Random random(4);
  for (int i = 0; i < 2 * kSpecs; i++) {
    const Layout layout = make_layout(RandomSpec(&random));
    TakeFromOneShard(layout, &random);
    if (testing::Test::HasFatalFailure())
      FAIL() << "order " << layout.spec.order() << " widths " << layout.spec.time_bits() << " "
             << layout.spec.shard_bits() << " " << layout.spec.seq_bits() << " unit "
             << layout.unit_us << " epoch " << layout.epoch.value;
  }
}

}  // namespace
}  // namespace snowid::core::test
