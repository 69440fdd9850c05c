// Tests of core/layout.hpp over random specifications of all orders, widths, units and epochs, held
// against plain arithmetic in 128 bits that puts an ID together field by field.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "core/layout.hpp"
#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

constexpr int kSpecs = 10000;
constexpr int kCasesOfEach = 20;

// For what a test says when it fails.
std::string Describe(const LayoutSpec& spec) {
  std::string text;
  for (const ExactField& field : ExactFields(spec).fields)
    text += std::string(1, field.letter) + std::to_string(field.bits) + " ";
  return text + "unit " + std::to_string(spec.unit_us()) + " epoch " +
         std::to_string(spec.epoch_us);
}

// Calls body(layout) with many layouts, until a test in it fails.
template <typename Body>
void ForRandomLayouts(Random* random, int count, Body body) {
  for (int i = 0; i < count; i++) {
    const Layout layout = make_layout(RandomSpec(random));
    body(layout);
    if (testing::Test::HasFailure()) FAIL() << Describe(layout.spec);
  }
}

// The greatest ID that the bits can tell.
Wide ExactMaxId(const Layout& layout) {
  int bits = 0;
  for (const ExactField& field : ExactFields(layout.spec).fields) bits += field.used_bits;
  return (Wide{1} << bits) - 1;
}

TEST(IsValid, HoldsEachFieldToItsRange) {
  const LayoutSpec valid{0, 1000, 41, 13, 10, 0};
  const auto is_valid_with = [&](auto change) {
    ChangedSpec spec(valid);
    change(&spec);
    return is_valid(spec.Made());
  };
  EXPECT_TRUE(is_valid(valid));
  for (const uint64_t unit : {uint64_t{1}, uint64_t{kDayUs}})
    EXPECT_TRUE(is_valid_with([&](ChangedSpec* spec) { spec->unit_us = unit; }));
  for (const uint64_t unit : {uint64_t{0}, uint64_t{kDayUs} + 1, (uint64_t{1} << 40) - 1})
    EXPECT_FALSE(is_valid_with([&](ChangedSpec* spec) { spec->unit_us = unit; }));
  for (const int64_t epoch : {kFirstEpoch.value, int64_t{-1}, int64_t{1}, kLastEpoch.value})
    EXPECT_TRUE(is_valid_with([&](ChangedSpec* spec) { spec->epoch_us = epoch; }));
  for (const int64_t epoch : {kFirstEpoch.value - 1, kLastEpoch.value + 1, INT64_MIN, INT64_MAX})
    EXPECT_FALSE(is_valid_with([&](ChangedSpec* spec) { spec->epoch_us = epoch; }));
  for (uint64_t order = 0; order < 8; order++)
    EXPECT_EQ(is_valid_with([&](ChangedSpec* spec) { spec->order = order; }), order < 6);
}

TEST(IsValid, HoldsForEveryWidthThatAddsUpTo64AtMost) {
  for (uint64_t time = 0; time < 128; time++)
    for (uint64_t shard = 0; shard < 128; shard++)
      for (uint64_t seq = 0; seq < 128; seq++)
        if (is_valid({0, 1000, time, shard, seq, seq % 2}) !=
            (time >= 1 && time <= 63 && time + shard + seq <= 64))
          FAIL() << time << " " << shard << " " << seq;
}

TEST(Canonical, TakesNoNoteOfWhereFieldsWithoutBitsLie) {
  const auto fields_with_bits = [](const LayoutSpec& spec) {
    std::string letters;
    for (const ExactField& field : ExactFields(spec).fields)
      if (field.bits > 0) letters += field.letter;
    return letters;
  };
  Random random(1);
  for (int i = 0; i < kSpecs; i++) {
    const LayoutSpec spec = RandomSpec(&random);
    if (!is_valid(spec) || canonical(spec) != spec) FAIL() << Describe(spec);
    for (uint64_t order = 0; order < 6; order++) {
      const LayoutSpec other = spec.with_order(order);
      const bool same = fields_with_bits(other) == fields_with_bits(spec);
      if ((canonical(other) == spec) != same) FAIL() << Describe(other) << ", " << Describe(spec);
      if (!is_valid(other)) FAIL() << Describe(other);
    }
  }
}

// Values of it are stored, and found equal by their bytes.
TEST(Canonical, IsTheSameForEver) {
  for (uint64_t order = 0; order < 6; order++) {
    const LayoutSpec spec{0, 1000, 41, 0, 22, order};
    const bool time_is_above = ExactFields(spec).PlaceOf('T') < ExactFields(spec).PlaceOf('Q');
    EXPECT_EQ(canonical(spec).order(), time_is_above ? 0u : 5u) << order;
    const LayoutSpec no_sequence{0, 1000, 41, 22, 0, order};
    const bool time_is_first =
        ExactFields(no_sequence).PlaceOf('T') < ExactFields(no_sequence).PlaceOf('H');
    EXPECT_EQ(canonical(no_sequence).order(), time_is_first ? 0u : 2u) << order;
    EXPECT_EQ(canonical({0, 1000, 41, 0, 0, order}).order(), 0u) << order;
  }
  EXPECT_EQ(kFirstEpoch.value, -62135596800000000);  // 0001-01-01 00:00:00
  EXPECT_EQ(kLastEpoch.value, 253402300799999999);   // 9999-12-31 23:59:59.999999
}

TEST(MakeLayout, SaysHowMuchEachPartCanBe) {
  Random random(2);
  ForRandomLayouts(&random, 5 * kSpecs, [](const Layout& layout) {
    const ExactFields exact(layout.spec);
    const Wide max_time = ExactMaxTime(layout);
    ASSERT_EQ(layout.epoch.value, layout.spec.epoch_us);
    ASSERT_EQ(layout.unit_us, static_cast<int64_t>(layout.spec.unit_us()));
    ASSERT_EQ(layout.seq_bits, exact.fields[exact.PlaceOf('Q')].used_bits);
    ASSERT_EQ(layout.time_is_first, exact.TimeIsFirst());
    ASSERT_EQ(layout.sequence_goes_on, layout.spec.unit_us() <= 1000000);
    ASSERT_EQ(layout.max_shard.value, ExactMaxShard(layout));
    ASSERT_EQ(layout.max_sequence.value, ExactMaxSequence(layout));
    ASSERT_EQ(layout.max_id.value, static_cast<int64_t>(ExactMaxId(layout)));
    ASSERT_EQ(layout.max_time.value, static_cast<int64_t>(max_time));
    ASSERT_EQ(layout.last_start.value, static_cast<int64_t>(ExactStart(layout, max_time)));
    ASSERT_EQ(layout.end.value, static_cast<int64_t>(ExactStart(layout, max_time + 1)));
    ASSERT_LE(ExactStart(layout, max_time + 1), INT64_MAX);
    ASSERT_GE(layout.max_time.value, 0);
  });
}

// Every ID that is not negative is one of a layout of 64 bits, but for those of a time that
// microseconds cannot tell.
TEST(MakeLayout, FillsBigint) {
  Random random(3);
  ForRandomLayouts(&random, kSpecs, [](const Layout& layout) {
    const bool is_full =
        layout.spec.time_bits() + layout.spec.shard_bits() + layout.spec.seq_bits() >= 63;
    ASSERT_EQ(layout.max_id.value == INT64_MAX, is_full);
    Parts parts{};
    const Status expected = ExactMaxTime(layout) == ExactFields(layout.spec).MostOf('T')
                                ? Status::kOk
                                : Status::kTimeOutOfRange;
    ASSERT_EQ(decompose(layout, layout.max_id, &parts), expected);
  });
}

TEST(MakeLayout, IsTheSameWhereverAShardWithoutBitsLies) {
  Random random(4);
  for (int i = 0; i < kSpecs; i++) {
    ChangedSpec changed(RandomSpec(&random));
    changed.shard_bits = 0;
    changed.order = random.Below(6);
    const LayoutSpec spec = changed.Made();
    const Layout layout = make_layout(spec);
    const Layout plain = make_layout(canonical(spec));
    const Parts parts = RandomParts(plain, &random);
    if (layout.max_time != plain.max_time || layout.max_sequence != plain.max_sequence ||
        layout.max_id != plain.max_id || layout.time_is_first != plain.time_is_first ||
        compose(layout, parts) != compose(plain, parts))
      FAIL() << Describe(spec);
  }
}

TEST(RandomLayouts, PartsComeBackFromIds) {
  Random random(5);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    for (int i = 0; i < kCasesOfEach; i++) {
      const Parts parts = RandomParts(layout, &random);
      const Id id = compose(layout, parts);
      ASSERT_EQ(id.value, static_cast<int64_t>(ExactId(layout, parts.time.value, parts.shard.value,
                                                       parts.sequence.value)));
      ASSERT_GE(id.value, 0);
      ASSERT_LE(id, layout.max_id);
      Parts back{};
      ASSERT_EQ(decompose(layout, id, &back), Status::kOk);
      ASSERT_EQ(back.time, parts.time);
      ASSERT_EQ(back.shard, parts.shard);
      ASSERT_EQ(back.sequence, parts.sequence);
    }
  });
}

// Divides where the layout shifts: the last field's value is the rest by its size, and so on up.
Parts ExactParts(const Layout& layout, Wide id) {
  Parts parts{};
  const ExactFields exact(layout.spec);
  for (int i = 2; i >= 0; i--) {
    const ExactField& field = exact.fields[i];
    const Wide values = Wide{1} << field.bits;
    const uint64_t value = static_cast<uint64_t>(id % values);
    if (field.letter == 'T') parts.time.value = static_cast<int64_t>(value);
    if (field.letter == 'H') parts.shard.value = value;
    if (field.letter == 'Q') parts.sequence.value = value;
    id /= values;
  }
  return parts;
}

TEST(RandomLayouts, IdsComeBackFromPartsOrAreRefused) {
  Random random(6);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    for (int i = 0; i < kCasesOfEach; i++) {
      const bool by_bits = random.Below(2) == 0;
      const Id id{by_bits ? static_cast<int64_t>(random.UpTo(UINT64_MAX))
                          : layout.max_id.value -
                                random.In(layout.max_id.value == INT64_MAX ? 0 : -1, 1)};
      const Parts expected = ExactParts(layout, std::max<Wide>(id.value, 0));
      const Status expected_status = id.value < 0                    ? Status::kNegativeId
                                     : id.value > ExactMaxId(layout) ? Status::kIdOutOfRange
                                     : expected.time.value > ExactMaxTime(layout)
                                         ? Status::kTimeOutOfRange
                                         : Status::kOk;
      Parts parts{};
      ASSERT_EQ(decompose(layout, id, &parts), expected_status) << id.value;
      if (expected_status != Status::kOk) continue;
      ASSERT_EQ(parts.time, expected.time) << id.value;
      ASSERT_EQ(parts.shard, expected.shard) << id.value;
      ASSERT_EQ(parts.sequence, expected.sequence) << id.value;
      ASSERT_EQ(compose(layout, parts), id);
    }
  });
}

TEST(RandomLayouts, TimeAtIsTheFloorOfEveryMoment) {
  Random random(7);
  ForRandomLayouts(&random, 2 * kSpecs, [&random](const Layout& layout) {
    const Wide max = ExactMaxTime(layout);
    for (int i = 0; i < kCasesOfEach; i++) {
      const int64_t moment = RandomMoment(layout, &random);
      const Wide expected = std::min(ExactTime(layout, moment), max + 1);
      const Time time = time_at(layout, {moment});
      ASSERT_EQ(time.value, static_cast<int64_t>(expected)) << moment;
      if (time.value < 0) continue;
      ASSERT_EQ(start_of(layout, time).value, static_cast<int64_t>(ExactStart(layout, expected)));
    }
  });
}

// Also where the distance from the epoch, in units of 1 us, is no 64-bit number.
TEST(RandomLayouts, TimeAtIsNegativeForEveryMomentBeforeTheEpoch) {
  Random random(14);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    for (int i = 0; i < kCasesOfEach; i++) {
      const int64_t after_first = static_cast<int64_t>(random.Sized() >> 1);
      const int64_t moment = std::min(INT64_MIN + after_first, layout.epoch.value - 1);
      ASSERT_LT(time_at(layout, {moment}).value, 0) << moment;
    }
  });
}

// A unit's length is divided by through multiplication: exactly, also where the number is as great
// as it can be.
TEST(RandomLayouts, TimeAtIsExactForEveryUnit) {
  Random random(8);
  for (int i = 0; i < 20 * kSpecs; i++) {
    const uint64_t unit_us = i < 100000 ? uint64_t(i) + 1 : 1 + random.UpTo(kDayUs - 1);
    const Layout layout = make_layout({-random.In(0, 1), unit_us, 62, 0, 1, 0});
    const int64_t time = layout.max_time.value - static_cast<int64_t>(random.UpTo(1000));
    const int64_t start = static_cast<int64_t>(ExactStart(layout, time));
    if (time_at(layout, {start}).value != time || time_at(layout, {start - 1}).value != time - 1)
      FAIL() << unit_us << " " << time;
    const int64_t moment = static_cast<int64_t>(random.UpTo(INT64_MAX));
    if (Wide{time_at(layout, {moment}).value} !=
        std::min<Wide>(ExactTime(layout, moment), Wide{layout.max_time.value} + 1))
      FAIL() << unit_us << " " << moment;
  }
}

TEST(RandomLayouts, EncodeGivesTheIdOfTheUnitThatHoldsTheMoment) {
  Random random(9);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    for (int i = 0; i < kCasesOfEach; i++) {
      const int64_t moment = RandomMoment(layout, &random);
      const Wide time = ExactTime(layout, moment);
      const Parts parts = RandomParts(layout, &random);
      int64_t shard = static_cast<int64_t>(parts.shard.value);
      int64_t sequence = static_cast<int64_t>(parts.sequence.value);
      const auto beyond = [](uint64_t most) {
        return most == INT64_MAX ? INT64_MIN : static_cast<int64_t>(most) + 1;
      };
      if (random.Below(8) == 0) shard = beyond(ExactMaxShard(layout));
      if (random.Below(8) == 0) sequence = beyond(ExactMaxSequence(layout));
      if (random.Below(16) == 0) shard = -static_cast<int64_t>(random.Sized() >> 1) - 1;
      if (random.Below(16) == 0) sequence = -static_cast<int64_t>(random.Sized() >> 1) - 1;
      const auto is_of = [](int64_t value, uint64_t most) {
        return value >= 0 && value <= static_cast<int64_t>(most);
      };
      const Status expected = time < 0 || time > ExactMaxTime(layout) ? Status::kTimeOutOfRange
                              : !is_of(shard, ExactMaxShard(layout))  ? Status::kShardOutOfRange
                              : !is_of(sequence, ExactMaxSequence(layout))
                                  ? Status::kSequenceOutOfRange
                                  : Status::kOk;
      Id id{};
      ASSERT_EQ(encode(layout, {moment}, shard, sequence, &id), expected) << moment;
      if (expected != Status::kOk) continue;
      ASSERT_EQ(id.value, static_cast<int64_t>(ExactId(layout, time, static_cast<uint64_t>(shard),
                                                       static_cast<uint64_t>(sequence))));
    }
  });
}

TEST(RandomLayouts, LeastAndGreatestEncloseTheUnitsIds) {
  Random random(10);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    for (int i = 0; i < kCasesOfEach; i++) {
      const Parts parts = RandomParts(layout, &random);
      const Id least = least_id_of(layout, parts.time);
      const Id greatest = greatest_id_of(layout, parts.time);
      ASSERT_EQ(least.value, static_cast<int64_t>(ExactId(layout, parts.time.value, 0, 0)));
      ASSERT_EQ(greatest.value,
                static_cast<int64_t>(ExactId(layout, parts.time.value, ExactMaxShard(layout),
                                             ExactMaxSequence(layout))));
      ASSERT_LE(least, compose(layout, parts));
      ASSERT_GE(greatest, compose(layout, parts));
    }
  });
}

TEST(RandomLayouts, LaterUnitsAreGreaterIdsWhereTimeIsFirst) {
  Random random(11);
  int times_first = 0;
  ForRandomLayouts(&random, kSpecs, [&](const Layout& layout) {
    if (!layout.time_is_first) return;
    times_first++;
    for (int i = 0; i < kCasesOfEach; i++) {
      Parts early = RandomParts(layout, &random);
      Parts late = RandomParts(layout, &random);
      if (early.time == late.time) continue;
      if (early.time > late.time) std::swap(early, late);
      ASSERT_LT(compose(layout, early), compose(layout, late));
    }
  });
  EXPECT_GT(times_first, kSpecs / 4);
}

TEST(RandomLayouts, KeysBetweenAreThoseOfUnitsThatBeginInIt) {
  Random random(12);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    const Wide max = ExactMaxTime(layout);
    // The first unit that begins at or after a moment, of those that there are and the one after.
    const auto first_unit = [&](int64_t moment) {
      return std::clamp<Wide>(-FloorOf(Wide{layout.spec.epoch_us} - moment, layout.unit_us), 0,
                              max + 1);
    };
    for (int i = 0; i < kCasesOfEach; i++) {
      const int64_t from = RandomMoment(layout, &random);
      const int64_t until = random.Below(8) == 0 ? from : RandomMoment(layout, &random);
      const Wide first = first_unit(from);
      const Wide end = first_unit(until);
      const KeyRange keys = KeysBetween(layout, from, until);
      const auto unit_of = [&layout](int64_t key) {
        return layout.time_is_first ? key >> layout.time_shift : key;
      };
      if (first > max)
        ASSERT_EQ(keys.first, INT64_MAX);
      else
        ASSERT_EQ(unit_of(keys.first), static_cast<int64_t>(first)) << from;
      if (end == 0)
        ASSERT_EQ(keys.last, -1);
      else
        ASSERT_EQ(unit_of(keys.last), static_cast<int64_t>(end - 1)) << until;
      const Parts parts = RandomParts(layout, &random);
      const Wide start = ExactStart(layout, parts.time.value);
      // The greatest bigint is in each range after the last unit.
      if (layout.time_is_first && compose(layout, parts).value == INT64_MAX && first > max)
        continue;
      ASSERT_EQ(IsBetween(layout, compose(layout, parts), from, until),
                start >= from && start < until)
          << from << " " << until;
      ASSERT_FALSE(IsBetween(layout, {random.In(INT64_MIN, -1)}, from, until));
    }
  });
}

// An ID of a time that microseconds cannot tell, or with more bits than the layout, is in no range.
TEST(RandomLayouts, WhatIsNoIdIsNeverBetween) {
  Random random(13);
  ForRandomLayouts(&random, kSpecs, [&random](const Layout& layout) {
    for (int i = 0; i < kCasesOfEach; i++) {
      const Id id{static_cast<int64_t>(random.UpTo(UINT64_MAX))};
      Parts parts{};
      ASSERT_EQ(IsBetween(layout, id, INT64_MIN, INT64_MAX),
                decompose(layout, id, &parts) == Status::kOk)
          << id.value;
    }
  });
}

}  // namespace
}  // namespace snowid::core::test
