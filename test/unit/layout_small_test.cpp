// Tests of core/layout.hpp by looking at every ID of layouts that are small enough: all orders and
// all widths of a few bits, and those of all 64 bits whose time is the one long field.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/layout.hpp"
#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

// Every layout of `bits` at most, with short units and an epoch that is no multiple of them.
std::vector<Layout> SmallLayouts(uint64_t bits) {
  constexpr struct {
    int64_t epoch_us;
    uint64_t unit_us;
  } kTimes[] = {{0, 1}, {-13, 3}, {1000, 4}};
  std::vector<Layout> layouts;
  for (uint64_t time = 1; time <= bits; time++)
    for (uint64_t shard = 0; shard + time <= bits; shard++)
      for (uint64_t seq = 0; seq + shard + time <= bits; seq++)
        for (uint64_t order = 0; order < 6; order++) {
          const auto [epoch_us, unit_us] = kTimes[layouts.size() % 3];
          layouts.push_back(make_layout({epoch_us, unit_us, time, shard, seq, order}));
        }
  return layouts;
}

TEST(SmallLayouts, EachIdIsThatOfItsOwnParts) {
  for (const Layout& layout : SmallLayouts(7)) {
    std::vector<bool> seen(static_cast<size_t>(layout.max_id.value + 1));
    for (int64_t time = 0; time <= layout.max_time.value; time++)
      for (uint64_t shard = 0; shard <= layout.max_shard.value; shard++)
        for (uint64_t sequence = 0; sequence <= layout.max_sequence.value; sequence++) {
          const Id id = compose(layout, {{time}, {shard}, {sequence}});
          ASSERT_EQ(id.value, static_cast<int64_t>(ExactId(layout, time, shard, sequence)));
          ASSERT_FALSE(seen[static_cast<size_t>(id.value)]);
          seen[static_cast<size_t>(id.value)] = true;
        }
    ASSERT_EQ(std::count(seen.begin(), seen.end(), false), 0);
    Parts parts{};
    ASSERT_EQ(decompose(layout, {layout.max_id.value + 1}, &parts), Status::kIdOutOfRange);
  }
}

TEST(SmallLayouts, LeastAndGreatestAreThoseOfAllTheUnitsIds) {
  for (const Layout& layout : SmallLayouts(8))
    for (int64_t time = 0; time <= layout.max_time.value; time++) {
      Wide least = INT64_MAX;
      Wide greatest = INT64_MIN;
      for (uint64_t shard = 0; shard <= layout.max_shard.value; shard++)
        for (uint64_t sequence = 0; sequence <= layout.max_sequence.value; sequence++) {
          const Wide id = ExactId(layout, time, shard, sequence);
          least = std::min(least, id);
          greatest = std::max(greatest, id);
        }
      ASSERT_EQ(least_id_of(layout, {time}).value, static_cast<int64_t>(least));
      ASSERT_EQ(greatest_id_of(layout, {time}).value, static_cast<int64_t>(greatest));
    }
}

// Where all 64 bits are taken, the first field goes without one: no ID is negative.
TEST(SmallLayouts, LeastAndGreatestInAll64Bits) {
  Random random(1);
  for (uint64_t order = 0; order < 6; order++)
    for (uint64_t shard_bits = 0; shard_bits <= 4; shard_bits++)
      for (uint64_t seq_bits = 0; seq_bits <= 4; seq_bits++) {
        if (shard_bits + seq_bits == 0) continue;  // the time alone has 63
        const Layout layout =
            make_layout({0, 1, 64 - shard_bits - seq_bits, shard_bits, seq_bits, order});
        for (int i = 0; i < 10; i++) {
          const Time time = RandomParts(layout, &random).time;
          Wide least = INT64_MAX;
          Wide greatest = INT64_MIN;
          for (uint64_t shard = 0; shard <= layout.max_shard.value; shard++)
            for (uint64_t sequence = 0; sequence <= layout.max_sequence.value; sequence++) {
              const Wide id = compose(layout, {time, {shard}, {sequence}}).value;
              least = std::min(least, id);
              greatest = std::max(greatest, id);
            }
          ASSERT_GE(least, 0);
          ASSERT_EQ(least_id_of(layout, time).value, static_cast<int64_t>(least));
          ASSERT_EQ(greatest_id_of(layout, time).value, static_cast<int64_t>(greatest));
        }
      }
}

// Holds the keys of a range against a look at each ID.
void CheckBetween(const Layout& layout, UnixMicros from, UnixMicros until) {
  const KeyRange range = KeysBetween(layout, from.value, until.value);
  int64_t least = INT64_MAX;
  int64_t greatest = -1;
  for (int64_t id = -2; id <= layout.max_id.value + 2; id++) {
    Parts parts{};
    const bool is_id = decompose(layout, {id}, &parts) == Status::kOk;
    const Wide start = ExactStart(layout, parts.time.value);
    const bool expected = is_id && start >= from.value && start < until.value;
    ASSERT_EQ(IsBetween(layout, {id}, from.value, until.value), expected) << id;
    if (!expected) continue;
    least = std::min(least, time_key(layout, {id}));
    greatest = std::max(greatest, time_key(layout, {id}));
  }
  ASSERT_EQ(IsNone(range), greatest < 0);
  if (greatest < 0) return;
  ASSERT_EQ(range.first, least);
  ASSERT_EQ(range.last, greatest);
}

TEST(SmallLayouts, BetweenHoldsTheIdsWhoseUnitBeginsInIt) {
  for (const Layout& layout : SmallLayouts(5)) {
    std::vector<int64_t> moments{INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX};
    for (int64_t us = -layout.unit_us - 1; us <= (layout.max_time.value + 2) * layout.unit_us; us++)
      moments.push_back(layout.epoch.value + us);
    for (const int64_t from : moments)
      for (const int64_t until : moments) {
        CheckBetween(layout, {from}, {until});
        if (testing::Test::HasFatalFailure())
          FAIL() << "from " << from << " until " << until << " in order " << layout.spec.order();
      }
  }
}

TEST(SmallLayouts, IdsOfOneShardAreInTheOrderOfTimeAboveTheSequence) {
  for (const Layout& layout : SmallLayouts(8)) {
    const ExactFields exact(layout.spec);
    if (exact.PlaceOf('T') > exact.PlaceOf('Q')) continue;
    for (uint64_t shard = 0; shard <= layout.max_shard.value; shard++) {
      Id before{-1};
      for (int64_t time = 0; time <= layout.max_time.value; time++)
        for (uint64_t sequence = 0; sequence <= layout.max_sequence.value; sequence++) {
          const Id id = compose(layout, {{time}, {shard}, {sequence}});
          ASSERT_GT(id, before);
          before = id;
        }
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
