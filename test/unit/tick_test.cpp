// Tests of core/tick.hpp in one thread: what each kind of clock, limit and span gives, and a
// property test against a model that counts the ticks one by one.
#include "core/tick.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

// Many time units in reach, and units so short that they are full at every turn.
constexpr Layout kShortUnits = make_layout({1000, 7, 41, 3, 2, 0});
constexpr Layout kTwoSequences = make_layout({-50, 1000, 40, 23, 1, 0});
constexpr Layout kTickLayouts[] = {kInstagram, kTwitter,     kShortUnits, kTwoSequences,
                                   kNoShard,   kWidestShard, kDays,       kTiny};

// Where the last unit of a layout begins: the furthest limit that its caller may give to Take.
UnixMicros LastStartOf(const Layout& layout) { return start_of(layout, layout.max_time); }

// Whether a unit is so short that the sequence goes on from the one before: a second at most.
bool HasShortUnits(const Layout& layout) { return layout.spec.unit_us() <= 1000000; }

// A shard of a layout, and its Take with the clock and the limit in units of time.
struct Allocator {
  Layout layout;
  std::atomic<uint64_t> word;

  Allocator(const Layout& layout, int64_t time, uint64_t sequence)
      : layout(layout), word(make_tick(layout, {time}, {sequence}).value) {}

  Grant TakeUntil(UnixMicros limit, int64_t now, uint32_t want = 1, Span span = Span::kAny) {
    return take(word, layout, {now}, limit, want, span);
  }
  Grant TakeAt(int64_t now, uint32_t want = 1, Span span = Span::kAny) {
    return TakeUntil(LastStartOf(layout), now, want, span);
  }
};

// Checks where a grant lies and that the word stands on its last tick.
void ExpectGrant(const Allocator& from, const Grant& grant, int64_t time, uint64_t sequence,
                 uint32_t count) {
  EXPECT_EQ(time_of(from.layout, grant.first).value, time);
  EXPECT_EQ(sequence_of(from.layout, grant.first).value, sequence);
  EXPECT_EQ(grant.count, count);
  EXPECT_EQ(from.word.load(), grant.first.value + count - 1);
}

// Checks a refusal: which tick it names, and that the word is where it was.
void ExpectRefused(const Allocator& from, const Grant& grant, int64_t time, uint64_t sequence,
                   uint64_t word) {
  EXPECT_EQ(grant.count, 0u);
  EXPECT_EQ(grant.first, make_tick(from.layout, {time}, {sequence}));
  EXPECT_EQ(from.word.load(), word);
}

TEST(Tick, IsTimeAndSequence) {
  EXPECT_EQ(make_tick(kInstagram, {1387263000}, {905}).value, uint64_t{1387263000} * 1024 + 905);
  Random random(1);
  for (const Layout& layout : kTickLayouts) {
    for (int i = 0; i < 20000; i++) {
      const Parts parts = RandomParts(layout, &random);
      const Tick tick = make_tick(layout, parts.time, parts.sequence);
      if (time_of(layout, tick) != parts.time || sequence_of(layout, tick) != parts.sequence ||
          id_of(layout, parts.shard, tick) != compose(layout, parts))
        FAIL() << parts.time.value << " " << parts.sequence.value;
    }
  }
}

TEST(Tick, LaterTicksOfAShardAreGreaterIds) {
  Random random(2);
  for (const Layout& layout : kTickLayouts) {
    for (int i = 0; i < 20000; i++) {
      const Parts a = RandomParts(layout, &random);
      const Parts b = RandomParts(layout, &random);
      const Tick tick_a = make_tick(layout, a.time, a.sequence);
      const Tick tick_b = make_tick(layout, b.time, b.sequence);
      if ((tick_a <=> tick_b) !=
          (id_of(layout, a.shard, tick_a) <=> id_of(layout, a.shard, tick_b)))
        FAIL() << tick_a.value << " " << tick_b.value;
    }
  }
}

TEST(LastTickAt, IsTheLastOfTheUnitThatHoldsTheMoment) {
  for (const Layout& layout : kTickLayouts) {
    const Sequence full = layout.max_sequence;
    const Time max = layout.max_time;
    const UnixMicros start = start_of(layout, {3});
    EXPECT_EQ(last_tick_at(layout, start), make_tick(layout, {3}, full));
    EXPECT_EQ(last_tick_at(layout, {start.value - 1}), make_tick(layout, {2}, full));
    EXPECT_EQ(last_tick_at(layout, {start.value + 1}), make_tick(layout, {3}, full));
    EXPECT_EQ(last_tick_at(layout, {layout.epoch.value}), make_tick(layout, {0}, full));
    for (const int64_t moment : {layout.epoch.value - 1, layout.epoch.value - 1000000, INT64_MIN})
      EXPECT_EQ(last_tick_at(layout, {moment}).value, 0u);
    const UnixMicros end = start_of(layout, {max.value + 1});
    for (const int64_t moment : {end.value - 1, end.value, end.value + 1, INT64_MAX})
      EXPECT_EQ(last_tick_at(layout, {moment}), make_tick(layout, max, full));
  }
}

TEST(Take, SequenceGoesOnFromOneMillisecondToTheNext) {
  Allocator from(kInstagram, 100, 5);
  ExpectGrant(from, from.TakeAt(101), 101, 6, 1);
  ExpectGrant(from, from.TakeAt(102), 102, 7, 1);
  ExpectGrant(from, from.TakeAt(5000), 5000, 8, 1);
  from.word = make_tick(kInstagram, {6000}, {1023}).value;
  ExpectGrant(from, from.TakeAt(6009), 6009, 0, 1);
}

// Nobody could wait for the next day when the sequences from here on are used up.
TEST(Take, SequenceBeginsAnewInEachLongUnit) {
  Allocator from(kDays, 100, 5);
  ExpectGrant(from, from.TakeAt(100), 100, 6, 1);
  ExpectGrant(from, from.TakeAt(101), 101, 0, 1);
  ExpectGrant(from, from.TakeAt(101), 101, 1, 1);
  Allocator of_seconds(kBaidu, 100, 5);
  ExpectGrant(of_seconds, of_seconds.TakeAt(101), 101, 6, 1);
}

TEST(Take, SpreadsSlowIdsEvenlyOverTheSequences) {
  Allocator from(kInstagram, 0, 0);
  std::vector<int> times_used(1024);
  for (int64_t now = 1; now <= 3 * 1024; now++)
    times_used[sequence_of(kInstagram, from.TakeAt(now).first).value]++;
  EXPECT_EQ(std::count(times_used.begin(), times_used.end(), 3), 1024);
}

TEST(Take, ClockThatStandsStillRollsIntoTheNextMillisecond) {
  Allocator from(kInstagram, 100, 1021);
  ExpectGrant(from, from.TakeAt(100), 100, 1022, 1);
  ExpectGrant(from, from.TakeAt(100), 100, 1023, 1);
  ExpectGrant(from, from.TakeAt(100), 101, 0, 1);
  for (uint64_t tick = from.word.load() + 1; tick < 200 * 1024; tick++)
    if (from.TakeAt(100).first.value != tick) FAIL() << tick;
}

TEST(Take, ClockThatGoesBackGoesUnnoticed) {
  Allocator from(kInstagram, 100, 1022);
  ExpectGrant(from, from.TakeAt(99), 100, 1023, 1);
  ExpectGrant(from, from.TakeAt(50), 101, 0, 1);
  ExpectGrant(from, from.TakeAt(0), 101, 1, 1);
  ExpectGrant(from, from.TakeAt(101), 101, 2, 1);
  ExpectGrant(from, from.TakeAt(102), 102, 3, 1);
}

TEST(Take, ClockBeforeTheEpoch) {
  for (const int64_t moment : {kInstagram.epoch.value - 1, int64_t{0}, INT64_MIN}) {
    const int64_t now = time_at(kInstagram, {moment}).value;
    ASSERT_LT(now, 0);
    Allocator from(kInstagram, 0, 0);
    ExpectGrant(from, from.TakeAt(now), 0, 1, 1);
    ExpectGrant(from, from.TakeAt(now, 1023), 0, 2, 1023);
    ExpectGrant(from, from.TakeAt(now, 3, Span::kOneUnit), 1, 1, 3);
    // With a limit by that same clock there is no tick at all.
    ExpectRefused(from, from.TakeUntil({moment}, now, 7), 1, 4, from.word.load());
  }
}

TEST(Take, ManyAtOnceAreConsecutive) {
  Allocator from(kInstagram, 100, 5);
  ExpectGrant(from, from.TakeAt(101, 10), 101, 6, 10);
  ExpectGrant(from, from.TakeAt(101, 1), 101, 16, 1);
  ExpectGrant(from, from.TakeAt(101, 2000), 101, 17, 2000);
  EXPECT_EQ(from.word.load(), make_tick(kInstagram, {102}, {17 + 1999 - 1024}).value);
  ExpectGrant(from, from.TakeAt(101, 100 * 1024), 102, 993, 100 * 1024);
}

TEST(Take, GrantsWhatComesBeforeTheLimit) {
  const auto start = [](int64_t time, int64_t us) {
    return UnixMicros{start_of(kInstagram, {time}).value + us};
  };
  Allocator from(kInstagram, 100, 1000);
  ExpectGrant(from, from.TakeUntil(start(100, 0), 100, 100), 100, 1001, 23);
  ExpectRefused(from, from.TakeUntil(start(100, 0), 100, 100), 101, 0, from.word.load());
  ExpectRefused(from, from.TakeUntil(start(101, -1), 100, 1), 101, 0, from.word.load());
  // The unit that begins at the limit is allowed.
  ExpectGrant(from, from.TakeUntil(start(101, 0), 100, 1), 101, 0, 1);
  ExpectGrant(from, from.TakeUntil(start(102, -1), 100, 2000), 101, 1, 1023);
  ExpectGrant(from, from.TakeUntil(start(103, 999), 100, 5000), 102, 0, 2048);
  from.word = make_tick(kInstagram, {200}, {0}).value;
  ExpectGrant(from, from.TakeUntil(start(200, 0), 0, 1023), 200, 1, 1023);
  // A clock past the limit: the limit counts.
  ExpectRefused(from, from.TakeUntil(start(300, -1), 300, 5), 300, 0, from.word.load());
  ExpectGrant(from, from.TakeUntil(start(300, 0), 300, 5), 300, 0, 5);
  ExpectRefused(from, from.TakeUntil({INT64_MIN}, 300, 5), 300, 5, from.word.load());
}

TEST(Take, OneUnitNeverRollsOver) {
  Allocator from(kInstagram, 100, 1000);
  ExpectGrant(from, from.TakeAt(100, 23, Span::kOneUnit), 100, 1001, 23);
  from.word = make_tick(kInstagram, {100}, {1000}).value;
  ExpectGrant(from, from.TakeAt(100, 24, Span::kOneUnit), 101, 0, 24);
  ExpectGrant(from, from.TakeAt(90, 1000, Span::kOneUnit), 101, 24, 1000);
  ExpectGrant(from, from.TakeAt(90, 1024, Span::kOneUnit), 102, 0, 1024);
  ExpectGrant(from, from.TakeAt(90, 1024, Span::kOneUnit), 103, 0, 1024);
  ExpectGrant(from, from.TakeAt(90, 1, Span::kOneUnit), 104, 0, 1);
  ExpectGrant(from, from.TakeAt(90, 1024, Span::kOneUnit), 105, 0, 1024);
}

TEST(Take, OneUnitUsesTheClocksOwnUnitWhereItIsFresh) {
  Allocator from(kInstagram, 100, 1000);
  ExpectGrant(from, from.TakeAt(200, 23, Span::kOneUnit), 200, 1001, 23);
  ExpectGrant(from, from.TakeAt(300, 24, Span::kOneUnit), 300, 0, 24);
  ExpectGrant(from, from.TakeAt(400, 1001, Span::kOneUnit), 400, 0, 1001);
  ExpectGrant(from, from.TakeAt(401, 23, Span::kOneUnit), 401, 1001, 23);
  ExpectGrant(from, from.TakeAt(402, 1024, Span::kOneUnit), 402, 0, 1024);
}

TEST(Take, OneUnitIsWholeOrRefused) {
  Allocator from(kInstagram, 100, 1000);
  const UnixMicros limit{start_of(kInstagram, {100}).value + 999};
  ExpectRefused(from, from.TakeUntil(limit, 100, 24, Span::kOneUnit), 101, 0, from.word.load());
  ExpectGrant(from, from.TakeUntil(limit, 100, 23, Span::kOneUnit), 100, 1001, 23);
  const UnixMicros next = start_of(kInstagram, {101});
  ExpectGrant(from, from.TakeUntil(next, 100, 1024, Span::kOneUnit), 101, 0, 1024);
}

TEST(Take, StartsAfterEveryTickUpToTheCeiling) {
  const UnixMicros ceiling{start_of(kInstagram, {100}).value + 500};
  Allocator from(kInstagram, 0, 0);
  from.word = last_tick_at(kInstagram, ceiling).value;
  // The clock has not passed the unit that the ceiling is in.
  ExpectRefused(from, from.TakeUntil(ceiling, 100), 101, 0, from.word.load());
  ExpectGrant(from, from.TakeAt(100), 101, 0, 1);
  from.word = last_tick_at(kInstagram, ceiling).value;
  ExpectGrant(from, from.TakeAt(99, 5), 101, 0, 5);
  from.word = last_tick_at(kInstagram, ceiling).value;
  ExpectGrant(from, from.TakeAt(777, 5), 777, 0, 5);
}

TEST(Take, StopsAtTheEndOfTheLayoutsTime) {
  for (const Layout& layout : kTickLayouts) {
    const int64_t max = layout.max_time.value;
    const uint64_t full = layout.max_sequence.value;
    const uint64_t left = std::min(full, uint64_t{1500});
    const uint64_t last = make_tick(layout, {max}, {full}).value;
    for (const uint32_t want : {1u, 2u, 7u, 1000u}) {
      Allocator from(layout, max, full - left);
      uint64_t taken = 0;
      Id id{-1};
      for (;;) {
        const Grant grant = from.TakeAt(max, want);
        if (grant.count == 0) break;
        taken += grant.count;
        ASSERT_LE(taken, left);
        const Id first = id_of(layout, layout.max_shard, grant.first);
        ASSERT_GT(first, id);
        id = id_of(layout, layout.max_shard, {grant.first.value + grant.count - 1});
        ASSERT_GE(id, first);
      }
      EXPECT_EQ(taken, left);
      EXPECT_EQ(id, greatest_id_of(layout, layout.max_time));
      ExpectRefused(from, from.TakeAt(max, want), max + 1, 0, last);
      ExpectRefused(from, from.TakeAt(-1, want), max + 1, 0, last);
      ExpectRefused(from, from.TakeAt(max + 1, 2, Span::kOneUnit), max + 1, 0, last);
    }
  }
}

// The layout's own end is a limit, whatever the caller's.
TEST(Take, StopsAtTheEndWithoutALimit) {
  const Time end = kInstagram.max_time;
  for (const UnixMicros limit : {UnixMicros{INT64_MAX}, kInstagram.end}) {
    std::atomic<uint64_t> word{make_tick(kInstagram, end, {1023}).value};
    EXPECT_EQ(take(word, kInstagram, end, limit, 1).count, 0u);
    EXPECT_EQ(word, make_tick(kInstagram, end, {1023}).value);

    word = make_tick(kInstagram, end, {1000}).value;
    EXPECT_EQ(take(word, kInstagram, end, limit, 100).count, 23u);
    EXPECT_EQ(word, make_tick(kInstagram, end, {1023}).value);

    word = make_tick(kInstagram, {end.value + 1}, {1}).value;
    EXPECT_EQ(take(word, kInstagram, end, limit, 2000).count, 0u);
    EXPECT_EQ(word, make_tick(kInstagram, {end.value + 1}, {1}).value);
  }
}

// More than all the ticks there are, in units so long that their times overflow.
TEST(Take, AsMuchAsCanBeAskedFor) {
  constexpr Layout kDays = make_layout({0, 86400000000, 26, 32, 5, 0});
  std::atomic<uint64_t> word{make_tick(kDays, {20000}, {0}).value};
  const Grant grant = take(word, kDays, {20000}, start_of(kDays, {20001}), UINT32_MAX);
  EXPECT_EQ(grant.count, 63u);
  EXPECT_EQ(word, make_tick(kDays, {20001}, {31}).value);
}

TEST(Take, ClockFarBeyondTheEndTakesNothing) {
  constexpr int64_t kYear9999Us = 253402300799000000;
  for (const Layout& layout : kTickLayouts) {
    const int64_t max = layout.max_time.value;
    for (const int64_t moment : {start_of(layout, {max + 1}).value, kYear9999Us, INT64_MAX}) {
      const int64_t now = time_at(layout, {moment}).value;
      if (now <= max) continue;  // A layout that lasts beyond the year 9999.
      Allocator from(layout, 1, 0);
      const uint64_t word = from.word.load();
      const uint64_t next = HasShortUnits(layout) ? 1 : 0;
      ExpectRefused(from, from.TakeAt(now), max + 1, next, word);
      ExpectRefused(from, from.TakeAt(now, 2, Span::kOneUnit), max + 1,
                    layout.spec.seq_bits() == 1 ? 0 : next, word);
      ExpectRefused(from, from.TakeUntil({INT64_MIN}, now), max + 1, next, word);
      // Put right, the clock serves again.
      ExpectGrant(from, from.TakeAt(2), 2, next, 1);
    }
  }
}

TEST(RaiseTo, OnlyEverRaises) {
  Allocator from(kInstagram, 100, 5);
  const auto tick = [](int64_t time, uint64_t sequence) {
    return make_tick(kInstagram, {time}, {sequence});
  };
  for (const Tick floor : {tick(0, 0), tick(99, 1023), tick(100, 4), tick(100, 5)}) {
    raise_to(from.word, floor);
    EXPECT_EQ(from.word.load(), tick(100, 5).value);
  }
  for (const Tick floor : {tick(100, 6), tick(101, 0), tick(5000, 1023)}) {
    raise_to(from.word, floor);
    EXPECT_EQ(from.word.load(), floor.value);
    raise_to(from.word, tick(100, 5));
    EXPECT_EQ(from.word.load(), floor.value);
  }
  ExpectGrant(from, from.TakeAt(200), 5001, 0, 1);
}

// The tick after another one, found by counting.
Tick ModelNext(const Layout& layout, Tick tick) {
  const uint64_t sequence = sequence_of(layout, tick).value;
  if (sequence < layout.max_sequence.value)
    return make_tick(layout, time_of(layout, tick), {sequence + 1});
  return make_tick(layout, {time_of(layout, tick).value + 1}, {0});
}

// What Take is to give, said step by step.
Grant ModelTake(const Layout& layout, Tick last, int64_t now, int64_t limit, uint32_t want,
                Span span) {
  const auto allowed = [&](Tick tick) {
    return ExactStart(layout, time_of(layout, tick).value) <= limit;
  };
  Tick first = ModelNext(layout, last);
  const bool fresh = now > time_of(layout, last).value;
  if (fresh)
    first =
        make_tick(layout, {now}, HasShortUnits(layout) ? sequence_of(layout, first) : Sequence{0});
  if (span == Span::kOneUnit) {
    Tick end = first;
    for (uint32_t i = 1; i < want; i++) end = ModelNext(layout, end);
    const int64_t next_unit = fresh ? now : time_of(layout, last).value + 1;
    if (time_of(layout, first) != time_of(layout, end)) first = make_tick(layout, {next_unit}, {0});
  }
  Grant grant{first, 0};
  for (Tick tick = first; grant.count < want && allowed(tick); tick = ModelNext(layout, tick))
    grant.count++;
  return grant;
}

TEST(Take, DoesAsTheModelDoes) {
  constexpr int kCases = 60000;
  Random random(3);
  for (const Layout& layout : kTickLayouts) {
    const int64_t unit = layout.unit_us;
    const int64_t max = layout.max_time.value;
    for (int i = 0; i < kCases; i++) {
      const Parts parts = RandomParts(layout, &random);
      const Tick last = make_tick(layout, parts.time, parts.sequence);
      const int64_t time = parts.time.value;
      const int64_t now = std::min(time + random.In(-3, 3), max + 1);
      const Wide limit_near = ExactStart(layout, time + random.In(-2, 5)) +
                              random.In(-1, random.Below(2) == 0 ? 1 : unit);
      const int64_t limit =
          random.Below(8) == 0
              ? LastStartOf(layout).value
              : static_cast<int64_t>(std::min<Wide>(limit_near, LastStartOf(layout).value));
      const Span span = random.Below(2) == 0 ? Span::kAny : Span::kOneUnit;
      const uint64_t sequences = layout.max_sequence.value + 1;
      const uint32_t want = 1 + static_cast<uint32_t>(random.Below(std::min<uint64_t>(
                                    span == Span::kAny ? 3 * sequences : sequences, 12)));
      std::atomic<uint64_t> word{last.value};
      const Grant grant = take(word, layout, {now}, {limit}, want, span);
      const Grant expected = ModelTake(layout, last, now, limit, want, span);
      const uint64_t moved_to =
          expected.count == 0 ? last.value : expected.first.value + expected.count - 1;
      if (grant.first != expected.first || grant.count != expected.count || word != moved_to)
        FAIL() << "last " << time << "/" << parts.sequence.value << " now " << now << " limit "
               << limit << " want " << want << ": " << grant.count << " from "
               << time_of(layout, grant.first).value << "/"
               << sequence_of(layout, grant.first).value;
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
