// Tests of core/uuid.hpp: the form that RFC 9562 gives, the order of ticks and of IDs, and that
// nothing but what was made of an ID is read as one.
#include "core/uuid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "core/layout_text.hpp"
#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

unsigned version_of(Uuid uuid) { return static_cast<unsigned>(uuid.high / 0x1000 % 16); }
bool is_of_rfc(Uuid uuid) { return uuid.low / (uint64_t{1} << 62) == 2; }

// Layouts whose times version 7 can hold, and others: the shard or the sequence first, times beyond
// 48 bits of milliseconds, times before 1970.
std::vector<Layout> SomeLayouts() {
  std::vector<Layout> layouts;
  for (const NamedLayout& named : kNamedLayouts) layouts.push_back(make_layout(named.spec));
  for (const uint64_t order : {0, 1, 2, 3, 4, 5}) {
    layouts.push_back(make_layout({1600000000000000, 1000, 41, 13, 10, order}));
    layouts.push_back(make_layout({1600000000000000, 250, 38, 9, 8, order}));
  }
  layouts.push_back(make_layout({-1, 1000, 41, 13, 10, 0}));
  layouts.push_back(make_layout({0, kLongestUnitUs, 30, 13, 10, 0}));
  layouts.push_back(make_layout({1600000000000001, 7, 50, 0, 1, 0}));
  layouts.push_back(make_layout({1600000000000000, 1, 44, 5, 14, 1}));
  layouts.push_back(make_layout({1600000000000000, 1000000, 24, 20, 20, 0}));
  layouts.push_back(make_layout({1600000000000000, 1000000, 23, 20, 21, 0}));
  layouts.push_back(kTimeOnly);
  layouts.push_back(make_layout({-1, 1000, 63, 0, 0, 0}));
  return layouts;
}

Id RandomId(const Layout& layout, Random* random) {
  const uint64_t most_time = static_cast<uint64_t>(layout.max_time.value);
  return compose(layout, {{static_cast<int64_t>(random->UpTo(most_time))},
                          {random->UpTo(layout.max_shard.value)},
                          {random->UpTo(layout.max_sequence.value)}});
}

TEST(Uuid7, HoldsTimeSequenceAndRandomBits) {
  const Tick tick = make_tick(kUuid7, {0x17f22e279b0}, {0xcc3});
  const Uuid uuid = uuid7_of(tick, 0x18c4dc0c0c07398f);
  EXPECT_EQ(uuid.high, 0x017f22e279b07cc3u);  // the example of RFC 9562, A.6
  EXPECT_EQ(uuid.low, 0x98c4dc0c0c07398fu);
  UnixMicros moment{};
  ASSERT_EQ(time_of_uuid(uuid, &moment), Status::kOk);
  EXPECT_EQ(moment.value, 1645557742000000);
}

TEST(Uuid7, TakesAllButTwoOfTheRandomBits) {
  const Tick tick = make_tick(kUuid7, {1}, {1});
  for (int bit = 0; bit < 64; bit++) {
    const Uuid uuid = uuid7_of(tick, uint64_t{1} << bit);
    EXPECT_EQ(uuid.low - (uint64_t{2} << 62), bit < 62 ? uint64_t{1} << bit : 0);
    EXPECT_EQ(uuid.high, uuid7_of(tick, 0).high);
  }
}

TEST(Uuid7, LaterTicksAreGreaterWhateverTheRandomBits) {
  Random random(1);
  const uint64_t last = make_tick(kUuid7, kUuid7.max_time, kUuid7.max_sequence).value;
  for (int i = 0; i < 100000; i++) {
    const uint64_t tick = random.UpTo(last - 1);
    const Uuid uuid = uuid7_of({tick}, random.Next());
    const Uuid later = uuid7_of({tick + 1}, random.Next());
    if (!(uuid < later) || version_of(uuid) != 7 || !is_of_rfc(uuid)) FAIL() << tick;
    UnixMicros moment{};
    if (time_of_uuid(uuid, &moment) != Status::kOk ||
        moment != start_of(kUuid7, time_of(kUuid7, {tick})))
      FAIL() << tick << " has " << moment.value;
  }
}

int64_t micros_of(Uuid uuid) {
  UnixMicros moment{};
  EXPECT_EQ(time_of_uuid(uuid, &moment), Status::kOk);
  return moment.value;
}

// 2022-02-22 19:22:22 UTC: the examples of RFC 9562, A.1, A.5 and A.6.
TEST(TimeOfUuid, ReadsTheExamplesOfTheRfc) {
  EXPECT_EQ(micros_of({0xc232ab00941411ec, 0xb3c89f6bdeced846}), 1645557742000000);
  EXPECT_EQ(micros_of({0x1ec9414c232a6b00, 0xb3c89f6bdeced846}), 1645557742000000);
  EXPECT_EQ(micros_of({0x017f22e279b07cc3, 0x98c4dc0c0c07398f}), 1645557742000000);
}

// The UUIDs of versions 1 and 6 with so many steps of 100 ns since 1582-10-15.
Uuid Uuid1Of(uint64_t steps) {
  return {steps % 0x100000000 * 0x100000000 + steps / 0x100000000 % 0x10000 * 0x10000 + 0x1000 +
              steps / 0x1000000000000,
          0x8000000000000000};
}
Uuid Uuid6Of(uint64_t steps) {
  return {steps / 0x1000 * 0x10000 + 0x6000 + steps % 0x1000, 0x8000000000000000};
}

TEST(TimeOfUuid, ReachesFromTheFirstTimeToTheLast) {
  constexpr int64_t kFirstDayUs = int64_t{-12219292800} * 1000000;
  constexpr uint64_t kStepsTo1970 = 122192928000000000;
  for (const auto uuid_of : {Uuid1Of, Uuid6Of}) {
    EXPECT_EQ(micros_of(uuid_of(0)), kFirstDayUs);
    EXPECT_EQ(micros_of(uuid_of(9)), kFirstDayUs);
    EXPECT_EQ(micros_of(uuid_of(10)), kFirstDayUs + 1);
    // Down, before 1970 too.
    EXPECT_EQ(micros_of(uuid_of(kStepsTo1970 - 11)), -2);
    EXPECT_EQ(micros_of(uuid_of(kStepsTo1970 - 10)), -1);
    EXPECT_EQ(micros_of(uuid_of(kStepsTo1970 - 1)), -1);
    EXPECT_EQ(micros_of(uuid_of(kStepsTo1970)), 0);
    EXPECT_EQ(micros_of(uuid_of(kStepsTo1970 + 19)), 1);
    EXPECT_EQ(micros_of(uuid_of((uint64_t{1} << 60) - 1)),
              kFirstDayUs + ((int64_t{1} << 60) - 1) / 10);
    Random random(5);
    for (int i = 0; i < 100000; i++) {
      const uint64_t steps = random.UpTo((uint64_t{1} << 60) - 1);
      ASSERT_EQ(micros_of(uuid_of(steps)), kFirstDayUs + static_cast<int64_t>(steps / 10)) << steps;
    }
  }
  EXPECT_EQ(micros_of({0x0000000000007fff, 0xbfffffffffffffff}), 0);
  EXPECT_EQ(micros_of({0xffffffffffff7000, 0x8000000000000000}), ((int64_t{1} << 48) - 1) * 1000);
}

TEST(TimeOfUuid, NoOtherVersionOrVariantHasATime) {
  const Uuid uuid = uuid7_of(make_tick(kUuid7, {1}, {1}), 1);
  UnixMicros moment{};
  for (uint64_t version = 0; version < 16; version++) {
    const bool has_time = version == 1 || version == 6 || version == 7;
    const Uuid other{(uuid.high & ~uint64_t{0xf000}) | version << 12, uuid.low};
    EXPECT_EQ(time_of_uuid(other, &moment), has_time ? Status::kOk : Status::kNoTime) << version;
    for (uint64_t variant = 0; variant < 4; variant++) {
      if (variant == 2) continue;
      const Uuid foreign{other.high, (other.low & UINT64_MAX >> 2) | variant << 62};
      EXPECT_EQ(time_of_uuid(foreign, &moment), Status::kNoTime) << version << " " << variant;
    }
  }
  for (const uint64_t same : {uint64_t{0}, UINT64_MAX})
    EXPECT_EQ(time_of_uuid({same, same}, &moment), Status::kNoTime);
}

// The time of a UUID of version 7; of any other, none.
bool IsIn(Uuid uuid, int64_t from, int64_t until) {
  return first_uuid7_from({from}) <= uuid && uuid <= last_uuid7_before({until}) && is_uuid7(uuid);
}

TEST(Uuid7Bounds, AreTheLeastAndTheGreatestOfAMillisecond) {
  EXPECT_EQ(least_uuid7_of({0x17f22e279b0}), (Uuid{0x017f22e279b07000, 0x8000000000000000}));
  EXPECT_EQ(greatest_uuid7_of({0x17f22e279b0}), (Uuid{0x017f22e279b07fff, 0xbfffffffffffffff}));
  EXPECT_EQ(least_uuid7_of({0}), (Uuid{0x7000, uint64_t{2} << 62}));
  EXPECT_EQ(greatest_uuid7_of(kUuid7.max_time), (Uuid{0xffffffffffff7fff, 0xbfffffffffffffff}));
}

TEST(Uuid7Bounds, HoldExactlyTheMillisecondsThatBeginInIt) {
  Random random(6);
  for (int i = 0; i < 100000; i++) {
    const int64_t from = RandomMoment(kUuid7, &random);
    const int64_t until = random.Below(8) == 0 ? std::min(from, INT64_MAX - 1000) + 1000
                                               : RandomMoment(kUuid7, &random);
    // A UUID near a bound, or any.
    const int64_t near = random.Below(2) == 0 ? from : until;
    const int64_t ms = std::clamp<Wide>(Wide{near} / 1000 + random.In(-1, 1), 0,
                                        static_cast<Wide>(kUuid7.max_time.value));
    const Uuid uuid = uuid7_of(make_tick(kUuid7, {ms}, {random.Below(4096)}), random.Next());
    const bool expected = Wide{ms} * 1000 >= from && Wide{ms} * 1000 < until;
    ASSERT_EQ(IsIn(uuid, from, until), expected) << ms << " from " << from << " until " << until;
    for (const Uuid bound : {least_uuid7_of({ms}), greatest_uuid7_of({ms})})
      ASSERT_EQ(IsIn(bound, from, until), expected) << ms << " from " << from << " until " << until;
    ASSERT_FALSE(IsIn({uuid.high ^ 0x3000, uuid.low}, from, until));
    ASSERT_FALSE(IsIn({uuid.high, uuid.low ^ uint64_t{1} << 63}, from, until));
  }
}

TEST(Uuid7Bounds, TakeAnyMoments) {
  const Uuid first = least_uuid7_of({0});
  const Uuid last = greatest_uuid7_of(kUuid7.max_time);
  EXPECT_TRUE(IsIn(first, INT64_MIN, INT64_MAX));
  EXPECT_TRUE(IsIn(last, INT64_MIN, INT64_MAX));
  EXPECT_FALSE(IsIn(first, INT64_MIN, 0));
  EXPECT_TRUE(IsIn(first, 0, 1));
  EXPECT_FALSE(IsIn(first, 1, INT64_MAX));
  EXPECT_TRUE(IsIn(last, kUuid7.last_start.value, kUuid7.end.value));
  EXPECT_FALSE(IsIn(last, kUuid7.last_start.value + 1, INT64_MAX));
  for (const uint64_t same : {uint64_t{0}, UINT64_MAX})
    EXPECT_FALSE(IsIn({same, same}, INT64_MIN, INT64_MAX));
}

// Each UUID below a bound has a key below the bound's, and no lesser key would do.
TEST(KeyOfUuidBound, IsTheLeastAboveAllThatAreBelow) {
  Random random(7);
  const auto key_of = [](Uuid uuid) {
    return static_cast<int64_t>(uuid.high >> 16 << 12 | (uuid.high & 0xfff));
  };
  for (int i = 0; i < 100000; i++) {
    const uint64_t version = random.Below(2) == 0 ? 7 : random.Below(16);
    const uint64_t ms = random.Below(3) + (random.Below(2) == 0 ? 0 : (uint64_t{1} << 48) - 3);
    const uint64_t b = random.Below(2) == 0 ? random.Below(4096) : random.Below(2) * 4095;
    const uint64_t low =
        random.Below(4) << 62 | (random.Below(2) == 0 ? random.Below(2) : random.Next() >> 2);
    const Uuid bound{ms << 16 | version << 12 | b, low};
    const int64_t key = key_of_uuid_bound(bound).value;
    // The last UUID of the key before, and the first one of the key.
    if (key > 0) {
      const Id before{key - 1};
      ASSERT_LT(uuid::assemble(7, static_cast<uint64_t>(before.value) >> 12,
                               static_cast<uint64_t>(before.value) & 0xfff, 0),
                bound)
          << key;
    }
    if (key < int64_t{1} << 60) {
      ASSERT_GE(uuid::assemble(7, static_cast<uint64_t>(key) >> 12,
                               static_cast<uint64_t>(key) & 0xfff, 0),
                bound)
          << key;
    }
    const Uuid any = uuid7_of(make_tick(kUuid7, {static_cast<int64_t>(ms)}, {random.Below(4096)}),
                              random.Next());
    if (any < bound) {
      ASSERT_LT(key_of(any), key);
    }
  }
  EXPECT_EQ(key_of_uuid_bound({0, 0}).value, 0);
  EXPECT_EQ(key_of_uuid_bound(least_uuid7_of({5})), least_id_of(kUuid7, {5}));
  EXPECT_EQ(key_of_uuid_bound({UINT64_MAX, UINT64_MAX}).value, int64_t{1} << 60);
}

// Stored UUIDs must be read for ever.
TEST(ToUuid, GivesWhatItAlwaysGave) {
  Uuid uuid{};
  ASSERT_EQ(to_uuid(kInstagram, {11637205501278089}, &uuid), Status::kOk);
  EXPECT_EQ(uuid, (Uuid{0x0132504e0bf17000, 0xa9ef138a3f3e8a95}));
  ASSERT_EQ(to_uuid(kTaobao, {1}, &uuid), Status::kOk);
  EXPECT_EQ(uuid, (Uuid{0x0000000000008000, 0x8c2aeea11ebda4a9}));
}

TEST(ToUuid, KeepsTheIdAndTheOrder) {
  Random random(2);
  for (const Layout& layout : SomeLayouts()) {
    const bool fits = layout.spec.order() <= 1 && layout.epoch.value >= 0 &&
                      layout.end.value / 1000 <= int64_t{1} << 48 &&
                      layout.spec.shard_bits() + layout.spec.seq_bits() <= 40;
    for (int i = 0; i < 5000; i++) {
      const Id id = RandomId(layout, &random);
      const Id other = RandomId(layout, &random);
      Uuid uuid{};
      Uuid other_uuid{};
      ASSERT_EQ(to_uuid(layout, id, &uuid), Status::kOk);
      ASSERT_EQ(to_uuid(layout, other, &other_uuid), Status::kOk);
      Id back{};
      if (version_of(uuid) != (fits ? 7u : 8u) || !is_of_rfc(uuid) ||
          (id <=> other) != (uuid <=> other_uuid) ||
          from_uuid(layout, uuid, &back) != Status::kOk || back != id)
        FAIL() << id.value << " of " << layout.spec.epoch_us << ", order " << layout.spec.order();
      if (!fits) continue;
      Parts parts{};
      ASSERT_EQ(decompose(layout, id, &parts), Status::kOk);
      UnixMicros moment{};
      ASSERT_EQ(time_of_uuid(uuid, &moment), Status::kOk);
      if (moment.value != start_of(layout, parts.time).value / 1000 * 1000)
        FAIL() << id.value << " has " << moment.value;
    }
  }
}

TEST(ToUuid, FailsAsDecomposeDoes) {
  Uuid uuid{};
  EXPECT_EQ(to_uuid(kInstagram, {-1}, &uuid), Status::kNegativeId);
  EXPECT_EQ(to_uuid(kFiftyThreeBits, {int64_t{1} << 53}, &uuid), Status::kIdOutOfRange);
  const Layout days = make_layout({0, kLongestUnitUs, 60, 0, 3, 0});
  EXPECT_EQ(to_uuid(days, days.max_id, &uuid), Status::kTimeOutOfRange);
}

TEST(FromUuid, RefusesWhatWasNotMadeOfAnId) {
  Random random(3);
  const std::vector<Layout> layouts = SomeLayouts();
  for (const Layout& layout : layouts) {
    const Id id = RandomId(layout, &random);
    Uuid uuid{};
    ASSERT_EQ(to_uuid(layout, id, &uuid), Status::kOk);
    Id back{};
    for (int bit = 0; bit < 64; bit++) {
      EXPECT_EQ(from_uuid(layout, {uuid.high ^ uint64_t{1} << bit, uuid.low}, &back),
                Status::kForeignUuid);
      EXPECT_EQ(from_uuid(layout, {uuid.high, uuid.low ^ uint64_t{1} << bit}, &back),
                Status::kForeignUuid);
    }
    for (const Layout& other : layouts)
      EXPECT_EQ(from_uuid(other, uuid, &back) == Status::kOk, other == layout);
  }
}

TEST(FromUuid, RefusesRandomOnes) {
  Random random(4);
  Id id{};
  for (const Layout& layout : SomeLayouts()) {
    for (int i = 0; i < 20000; i++) {
      const uint64_t ms = random.Below(uint64_t{1} << 41);
      const Uuid version_7{ms << 16 | 0x7000 | random.Below(4096),
                           uint64_t{2} << 62 | random.Next() >> 2};
      const Uuid version_4{(random.Next() & ~uint64_t{0xf000}) | 0x4000, version_7.low};
      if (from_uuid(layout, version_7, &id) == Status::kOk ||
          from_uuid(layout, version_4, &id) == Status::kOk)
        FAIL() << version_7.high << " " << version_7.low;
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
