// Tests of core/layout.hpp: the vectors of the field, and properties that are held against plain
// arithmetic in 128 bits over random parts, IDs and moments of many layouts.
#include "core/layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <type_traits>
#include <vector>

#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

bool SameParts(const Parts& a, const Parts& b) {
  return a.time == b.time && a.shard == b.shard && a.sequence == b.sequence;
}

constexpr int64_t micros_of(std::chrono::sys_time<std::chrono::milliseconds> moment) {
  return std::chrono::microseconds(moment.time_since_epoch()).count();
}

using std::chrono::sys_days;
using namespace std::chrono_literals;

TEST(LayoutVectors, Instagram) {
  constexpr Parts kParts{{1387263000}, {1341}, {5001 % 1024}};
  static_assert(compose(kInstagram, kParts).value == 11637205501278089);
  EXPECT_EQ(compose(kInstagram, kParts).value, 11637205501278089);
  Parts parts{};
  ASSERT_EQ(decompose(kInstagram, {11637205501278089}, &parts), Status::kOk);
  EXPECT_EQ(parts.time.value, 1387263000);
  EXPECT_EQ(parts.shard.value, 1341u);
  EXPECT_EQ(parts.sequence.value, 905u);
  Id id{};
  const UnixMicros moment{kInstagram.epoch.value + int64_t{1387263000} * 1000};
  for (const int64_t within_us : {0, 1, 999}) {
    ASSERT_EQ(encode(kInstagram, {moment.value + within_us}, 1341, 905, &id), Status::kOk);
    EXPECT_EQ(id.value, 11637205501278089);
  }
}

TEST(LayoutVectors, ShiftIsDoneIn64Bits) {
  EXPECT_EQ(least_id_of(kInstagram, {1992325551}).value, 16712838055723008);
  Parts parts{};
  ASSERT_EQ(decompose(kInstagram, {16712838055723008}, &parts), Status::kOk);
  EXPECT_TRUE(SameParts(parts, {{1992325551}, {0}, {0}}));
}

TEST(LayoutVectors, EpochOf2015) {
  const UnixMicros moment{micros_of(sys_days(2018y / 6 / 9) + 10h)};
  Id id{};
  ASSERT_EQ(encode(kDiscord, moment, 786, 0, &id), Status::kOk);
  EXPECT_EQ(id.value, 454947766275219456);
  ASSERT_EQ(encode(kDiscord, moment, 786, 3450, &id), Status::kOk);
  EXPECT_EQ(id.value, 454947766275222906);
  Parts parts{};
  ASSERT_EQ(decompose(kDiscord, {454947766275222906}, &parts), Status::kOk);
  EXPECT_EQ(start_of(kDiscord, parts.time), moment);
  EXPECT_EQ(parts.shard.value, 786u);
  EXPECT_EQ(parts.sequence.value, 3450u);
}

TEST(LayoutVectors, EpochsAndEnds) {
  EXPECT_EQ(kInstagram.epoch.value, micros_of(sys_days(2011y / 8 / 24) + 21h + 7min + 1721ms));
  EXPECT_EQ(kInstagram.max_shard.value, 8191u);
  EXPECT_EQ(kInstagram.max_sequence.value, 1023u);
  EXPECT_EQ(kInstagram.end.value, micros_of(sys_days(2046y / 6 / 27) + 17h + 49497ms));
  EXPECT_GE(kTwitter.end.value, micros_of(sys_days(2080y / 7 / 10)));
  EXPECT_LT(kTwitter.end.value, micros_of(sys_days(2080y / 7 / 11)));
  EXPECT_EQ(kBaidu.end.value, micros_of(sys_days(2024y / 11 / 20) + 13h + 24min + 16s));
}

TEST(Layout, RangesOfTheParts) {
  for (const Layout& layout : kLayouts) {
    EXPECT_EQ(layout.max_time.value, ExactMaxTime(layout));
    EXPECT_EQ(Wide{layout.max_shard.value}, (Wide{1} << layout.spec.shard_bits()) - 1);
    EXPECT_EQ(Wide{layout.max_sequence.value}, (Wide{1} << layout.spec.seq_bits()) - 1);
  }
  EXPECT_EQ(kNoShard.max_shard.value, 0u);
  EXPECT_EQ(kWidestShard.max_shard.value, UINT32_MAX);
  EXPECT_EQ(kOneTime.max_time.value, 0);
}

TEST(Layout, IsComparedBySpecification) {
  static_assert(std::has_unique_object_representations_v<LayoutSpec>);
  EXPECT_TRUE(kTwitter == make_layout(kTwitter.spec));
  for (const LayoutSpec& other : {LayoutSpec{1288834974657001, 1000, 41, 10, 12, 0},
                                  LayoutSpec{1288834974657000, 1001, 41, 10, 12, 0},
                                  LayoutSpec{1288834974657000, 1000, 40, 10, 12, 0},
                                  LayoutSpec{1288834974657000, 1000, 41, 11, 12, 0},
                                  LayoutSpec{1288834974657000, 1000, 41, 10, 11, 0},
                                  LayoutSpec{1288834974657000, 1000, 41, 10, 12, 1}})
    EXPECT_FALSE(make_layout(other) == kTwitter);
}

TEST(ComposeDecompose, PartsComeBackAndKeepTheirOrder) {
  constexpr int kCases = 150000;
  Random random(1);
  for (const Layout& layout : kLayouts) {
    Id before{0};
    Parts parts_before{{0}, {0}, {0}};
    for (int i = 0; i < kCases; i++) {
      const Parts parts = RandomParts(layout, &random);
      const Id id = compose(layout, parts);
      Parts back{};
      const Status status = decompose(layout, id, &back);
      const auto key = [](const Parts& p) {
        return std::tuple(p.time.value, p.shard.value, p.sequence.value);
      };
      if (Wide{id.value} !=
              ExactId(layout, parts.time.value, parts.shard.value, parts.sequence.value) ||
          status != Status::kOk || !SameParts(parts, back) ||
          (before < id) != (key(parts_before) < key(parts)))
        FAIL() << "time " << parts.time.value << " shard " << parts.shard.value << " sequence "
               << parts.sequence.value << " of " << layout.spec.time_bits()
               << " time bits: " << id.value;
      before = id;
      parts_before = parts;
    }
  }
}

TEST(ComposeDecompose, IdsComeBackOrAreRefused) {
  constexpr int kCases = 100000;
  Random random(2);
  for (const Layout& layout : kLayouts) {
    const Wide last =
        ExactId(layout, ExactMaxTime(layout), (Wide{1} << layout.spec.shard_bits()) - 1,
                (Wide{1} << layout.spec.seq_bits()) - 1);
    for (int i = 0; i < kCases; i++) {
      const uint64_t bits = random.Below(2) == 0 ? random.Next() : random.Sized();
      const Id id{static_cast<int64_t>(bits)};
      Parts parts{};
      const Status status = decompose(layout, id, &parts);
      const Status expected = id.value < 0      ? Status::kNegativeId
                              : id.value > last ? Status::kIdOutOfRange
                                                : Status::kOk;
      if (status != expected || (status == Status::kOk && compose(layout, parts) != id))
        FAIL() << id.value << " with " << layout.spec.time_bits() << " time bits";
    }
  }
}

TEST(ComposeDecompose, RefusesNegativeIdsAndTimesBeyondTheLayout) {
  Parts parts{};
  for (const Layout& layout : kLayouts) {
    EXPECT_EQ(decompose(layout, {-1}, &parts), Status::kNegativeId);
    EXPECT_EQ(decompose(layout, {INT64_MIN}, &parts), Status::kNegativeId);
    EXPECT_EQ(decompose(layout, greatest_id_of(layout, layout.max_time), &parts), Status::kOk);
    EXPECT_EQ(decompose(layout, {0}, &parts), Status::kOk);
  }
  EXPECT_EQ(decompose(kFiftyThreeBits, {int64_t{1} << 53}, &parts), Status::kIdOutOfRange);
  EXPECT_EQ(decompose(kFiftyThreeBits, {(int64_t{1} << 53) - 1}, &parts), Status::kOk);
  EXPECT_EQ(decompose(kFiftyThreeBits, {INT64_MAX}, &parts), Status::kIdOutOfRange);
}

TEST(LeastGreatest, UnitsFollowOneAnotherWithoutAGap) {
  Random random(3);
  for (const Layout& layout : kLayouts) {
    const Time max = layout.max_time;
    EXPECT_EQ(least_id_of(layout, {0}).value, 0);
    const bool fills_bigint =
        layout.spec.time_bits() + layout.spec.shard_bits() + layout.spec.seq_bits() >= 63;
    EXPECT_EQ(greatest_id_of(layout, max).value == INT64_MAX, fills_bigint);
    for (int i = 0; i < 1000 && max.value > 0; i++) {
      const Time time{random.In(0, max.value - 1)};
      EXPECT_EQ(greatest_id_of(layout, time).value + 1,
                least_id_of(layout, {time.value + 1}).value);
      EXPECT_LE(least_id_of(layout, time), greatest_id_of(layout, time));
    }
  }
}

TEST(TimeAt, FloorsAroundTheEpoch) {
  for (const Layout& layout : kLayouts) {
    const int64_t unit = layout.unit_us;
    const auto time_after = [&](int64_t after_us) {
      return time_at(layout, {layout.epoch.value + after_us}).value;
    };
    EXPECT_EQ(time_after(0), 0);
    EXPECT_EQ(time_after(unit - 1), 0);
    EXPECT_EQ(time_after(unit), 1);
    EXPECT_EQ(time_after(-1), -1);
    EXPECT_EQ(time_after(-unit), -1);
    EXPECT_EQ(time_after(-unit - 1), -2);
    EXPECT_EQ(time_after(-2 * unit), -2);
  }
}

TEST(TimeAt, EveryMomentAfterTheEndIsJustBeyondIt) {
  for (const Layout& layout : kLayouts) {
    const int64_t max = layout.max_time.value;
    const int64_t end = layout.end.value;
    EXPECT_EQ(time_at(layout, {end - 1}).value, max);
    EXPECT_EQ(time_at(layout, {end}).value, max + 1);
    EXPECT_EQ(time_at(layout, {INT64_MAX}).value, max + 1);
  }
  const UnixMicros year_9999{micros_of(sys_days(9999y / 12 / 31) + 23h)};
  EXPECT_EQ(time_at(kInstagram, year_9999).value, kInstagram.max_time.value + 1);
}

TEST(TimeAt, IsTheFloorOfEveryMoment) {
  constexpr int kCases = 100000;
  Random random(4);
  for (const Layout& layout : kLayouts) {
    for (int i = 0; i < kCases; i++) {
      const int64_t moment = RandomMoment(layout, &random);
      const Wide expected = std::min(ExactTime(layout, moment), Wide{ExactMaxTime(layout)} + 1);
      const Time time = time_at(layout, {moment});
      if (Wide{time.value} != expected) FAIL() << moment << " gives " << time.value;
      if (time.value < 0 || expected > ExactMaxTime(layout)) continue;
      if (Wide{start_of(layout, time).value} != ExactStart(layout, expected))
        FAIL() << time.value << " starts at " << start_of(layout, time).value;
    }
  }
}

// In units of 1 us a moment may be more than 2^63 units before the epoch.
TEST(TimeAt, IsNegativeForEveryMomentBeforeTheEpoch) {
  EXPECT_LT(time_at(kMicros, {INT64_MIN}).value, 0);
  EXPECT_LT(time_at(kMicros, {kMicros.epoch.value + INT64_MIN - 1}).value, 0);
}

TEST(Encode, SaysWhichPartIsOutOfRange) {
  Id id{};
  for (const Layout& layout : kLayouts) {
    const int64_t start = layout.epoch.value;
    const int64_t end = layout.end.value;
    const int64_t shard = layout.max_shard.value;
    const int64_t sequence = static_cast<int64_t>(layout.max_sequence.value);
    ASSERT_EQ(encode(layout, {start}, 0, 0, &id), Status::kOk);
    EXPECT_EQ(id.value, 0);
    ASSERT_EQ(encode(layout, {end - 1}, shard, sequence, &id), Status::kOk);
    EXPECT_EQ(id, greatest_id_of(layout, layout.max_time));
    for (const int64_t moment : {start - 1, end, INT64_MAX})
      EXPECT_EQ(encode(layout, {moment}, 0, 0, &id), Status::kTimeOutOfRange);
    for (const int64_t wrong : {int64_t{-1}, shard + 1, INT64_MIN, INT64_MAX, int64_t{1} << 32})
      EXPECT_EQ(encode(layout, {start}, wrong, 0, &id), Status::kShardOutOfRange);
    for (const int64_t wrong : {int64_t{-1}, sequence + 1, INT64_MIN, INT64_MAX})
      EXPECT_EQ(encode(layout, {start}, 0, wrong, &id), Status::kSequenceOutOfRange);
    // The first of several wrong parts is named.
    EXPECT_EQ(encode(layout, {end}, -1, -1, &id), Status::kTimeOutOfRange);
    EXPECT_EQ(encode(layout, {start}, -1, -1, &id), Status::kShardOutOfRange);
  }
}

TEST(Encode, GivesTheIdOfTheUnitThatHoldsTheMoment) {
  constexpr int kCases = 50000;
  Random random(5);
  for (const Layout& layout : kLayouts) {
    for (int i = 0; i < kCases; i++) {
      const int64_t moment = RandomMoment(layout, &random);
      const Parts parts = RandomParts(layout, &random);
      const Wide time = ExactTime(layout, moment);
      const bool holds = time >= 0 && time <= ExactMaxTime(layout);
      Id id{};
      const Status status = encode(layout, {moment}, parts.shard.value,
                                   static_cast<int64_t>(parts.sequence.value), &id);
      if (status != (holds ? Status::kOk : Status::kTimeOutOfRange) ||
          (holds && id.value != ExactId(layout, time, parts.shard.value, parts.sequence.value)))
        FAIL() << moment << " gives " << id.value << " with status " << static_cast<int>(status);
    }
  }
}

// Layouts small enough to look at each of their IDs.
constexpr Layout kTinyLayouts[] = {
    make_layout({0, 1, 3, 1, 1, 0}), make_layout({-13, 7, 3, 2, 2, 0}),
    make_layout({1000, 4, 2, 0, 3, 0}), make_layout({-9, 3, 1, 1, 1, 0})};

TEST(Between, HoldsExactlyTheIdsWhoseUnitBeginsInIt) {
  for (const Layout& layout : kTinyLayouts) {
    const int64_t unit = layout.unit_us;
    const int64_t ids = greatest_id_of(layout, layout.max_time).value + 1;
    std::vector<int64_t> moments{INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX};
    for (int64_t us = -2 * unit; us <= (layout.max_time.value + 3) * unit; us++)
      moments.push_back(layout.epoch.value + us);
    for (const int64_t from : moments) {
      for (const int64_t until : moments) {
        const KeyRange range = KeysBetween(layout, from, until);
        bool any = false;
        for (int64_t id = 0; id < ids; id++) {
          Parts parts{};
          ASSERT_EQ(decompose(layout, {id}, &parts), Status::kOk);
          const Wide start = ExactStart(layout, parts.time.value);
          const bool expected = start >= from && start < until;
          any |= expected;
          if ((range.first <= id && id <= range.last) != expected)
            FAIL() << id << " between " << from << " and " << until;
        }
        if (IsNone(range) == any) FAIL() << "none between " << from << " and " << until;
        if (any && (range.first < 0 || range.last >= ids))
          FAIL() << "no ID, yet between " << from << " and " << until;
      }
    }
  }
}

TEST(Between, TakesAnyMoments) {
  constexpr int kCases = 50000;
  Random random(6);
  for (const Layout& layout : kLayouts) {
    const Wide max = ExactMaxTime(layout);
    // The first unit that begins at or after a moment, of all that might be.
    const auto first_unit = [&](int64_t moment) {
      return std::clamp<Wide>(ExactTime(layout, moment) +
                                  (ExactStart(layout, ExactTime(layout, moment)) < moment ? 1 : 0),
                              0, max + 1);
    };
    for (int i = 0; i < kCases; i++) {
      const int64_t from = RandomMoment(layout, &random);
      const int64_t until = random.Below(8) == 0 ? from : RandomMoment(layout, &random);
      const Wide first = first_unit(from);
      const Wide end = first_unit(until);
      const KeyRange range = KeysBetween(layout, from, until);
      if (first > max ? range.first != INT64_MAX : range.first != ExactId(layout, first, 0, 0))
        FAIL() << "from " << from << ": " << range.first;
      if (end == 0 ? range.last != -1 : range.last != ExactId(layout, end, 0, 0) - 1)
        FAIL() << "from " << from << " until " << until << ": " << range.first << " to "
               << range.last;
    }
  }
}

TEST(Between, EdgesOfInstagram) {
  const auto at = [](int64_t time, int64_t us) { return start_of(kInstagram, {time}).value + us; };
  const KeyRange all = KeysBetween(kInstagram, INT64_MIN, INT64_MAX);
  EXPECT_EQ(all.first, 0);
  EXPECT_EQ(all.last, INT64_MAX);
  const KeyRange one = KeysBetween(kInstagram, at(5, 0), at(6, 0));
  EXPECT_EQ(one.first, least_id_of(kInstagram, {5}).value);
  EXPECT_EQ(one.last, greatest_id_of(kInstagram, {5}).value);
  EXPECT_EQ(KeysBetween(kInstagram, at(4, 1), at(5, 1)).first, one.first);
  EXPECT_EQ(KeysBetween(kInstagram, at(4, 1), at(5, 1)).last, one.last);
  EXPECT_TRUE(IsNone(KeysBetween(kInstagram, at(5, 1), at(5, 999))));
  EXPECT_TRUE(IsNone(KeysBetween(kInstagram, at(5, 0), at(5, 0))));
  EXPECT_TRUE(IsNone(KeysBetween(kInstagram, at(6, 0), at(5, 0))));
  EXPECT_TRUE(IsNone(KeysBetween(kInstagram, INT64_MAX, INT64_MIN)));
  EXPECT_TRUE(IsNone(KeysBetween(kInstagram, INT64_MIN, at(0, 0))));
  EXPECT_EQ(KeysBetween(kInstagram, INT64_MIN, at(0, 1)).last,
            greatest_id_of(kInstagram, {0}).value);
  const int64_t end = kInstagram.max_time.value + 1;
  // No bound keeps the greatest bigint out, which is an ID of the last unit.
  EXPECT_EQ(KeysBetween(kInstagram, at(end, 0), INT64_MAX).first, INT64_MAX);
  EXPECT_TRUE(IsNone(KeysBetween(kInstagram, at(end, 0), at(end - 1, 0))));
  EXPECT_EQ(KeysBetween(kInstagram, at(end - 1, 0), INT64_MAX).first,
            least_id_of(kInstagram, {end - 1}).value);
}

}  // namespace
}  // namespace snowid::core::test
