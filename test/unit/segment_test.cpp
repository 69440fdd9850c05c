// Tests of core/segment.hpp in one thread: what is drawn from runs that were allocated, when it is
// time to refill, what is given up, and a property test against a model that holds every number.
#include "core/segment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <vector>

#include "random.hpp"
#include "segments.hpp"

namespace snowid::core::test {
namespace {

using Numbers = std::vector<int64_t>;

constexpr Spacing kDense{1, 1};
constexpr Spacing kSpacings[] = {{1, 1}, {1, 2},  {1, 1000}, {2, 3},       {3, 7},
                                 {7, 7}, {9, 10}, {10, 11},  {1000, 2000}, {1000, 1000}};

Numbers Joined(Numbers numbers, const Numbers& more) {
  numbers.insert(numbers.end(), more.begin(), more.end());
  return numbers;
}

void ExpectDrawn(const Drawn& drawn, int64_t first, uint32_t count) {
  EXPECT_EQ(drawn.first, first);
  EXPECT_EQ(drawn.count, count);
}

void ExpectEmpty(Segment& segment) {
  EXPECT_FALSE(has_numbers(segment));
  EXPECT_TRUE(has_room(segment));
  const Drawn drawn = draw(segment, 1);
  EXPECT_EQ(drawn.count, 0u);
  EXPECT_TRUE(drawn.is_low);
}

TEST(Segment, HoldsNothingWhereZeroed) {
  alignas(Segment) unsigned char memory[sizeof(Segment)];
  std::memset(memory, 0, sizeof(memory));
  Segment& segment = *reinterpret_cast<Segment*>(memory);
  ExpectEmpty(segment);
  EXPECT_TRUE(is_running_low(segment));
  ExpectDrawn(draw(segment, UINT32_MAX), 0, 0);
  ExpectEmpty(segment);
}

TEST(Draw, GivesOneNumberAfterTheOther) {
  Segment segment{};
  publish(segment, 5, 3, kDense);
  EXPECT_TRUE(has_numbers(segment));
  ExpectDrawn(draw(segment, 1), 5, 1);
  ExpectDrawn(draw(segment, 1), 6, 1);
  EXPECT_TRUE(has_numbers(segment));
  ExpectDrawn(draw(segment, 1), 7, 1);
  ExpectEmpty(segment);
}

TEST(Draw, GivesWhatIsWantedWhereThereIsAsMuch) {
  Segment segment{};
  publish(segment, 100, 20, kDense);
  ExpectDrawn(draw(segment, 7), 100, 7);
  ExpectDrawn(draw(segment, 1), 107, 1);
  ExpectDrawn(draw(segment, 12), 108, 12);
  ExpectEmpty(segment);
}

TEST(Draw, GivesTheRestWhereThereIsLess) {
  Segment segment{};
  publish(segment, 100, 20, kDense);
  ExpectDrawn(draw(segment, 13), 100, 13);
  ExpectDrawn(draw(segment, 13), 113, 7);
  ExpectEmpty(segment);
  publish(segment, 500, 4, kDense);
  ExpectDrawn(draw(segment, 5), 500, 4);
  ExpectEmpty(segment);
}

TEST(Draw, WantsAsManyAsThereMayBe) {
  Segment segment{};
  constexpr uint64_t kMany = uint64_t{1} << 62;
  publish(segment, 0, kMany, kDense);
  ExpectDrawn(draw(segment, UINT32_MAX), 0, UINT32_MAX);
  ExpectDrawn(draw(segment, UINT32_MAX), UINT32_MAX, UINT32_MAX);
  forget(segment);
  publish(segment, 7, uint64_t{1} << 32, kDense);
  ExpectDrawn(draw(segment, UINT32_MAX), 7, UINT32_MAX);
  ExpectDrawn(draw(segment, UINT32_MAX), 7 + int64_t{UINT32_MAX}, 1);
  ExpectEmpty(segment);
}

// Two runs need not follow one another, so a batch is of one of them.
TEST(Draw, BatchEndsWithItsRun) {
  Segment segment{};
  publish(segment, 0, 10, kDense);
  publish(segment, 10, 10, kDense);
  ExpectDrawn(draw(segment, 100), 0, 10);
  publish(segment, 50, 10, kDense);
  ExpectDrawn(draw(segment, 3), 10, 3);
  ExpectDrawn(draw(segment, 100), 13, 7);
  ExpectDrawn(draw(segment, 100), 50, 10);
  ExpectEmpty(segment);
}

TEST(Draw, BatchNeverLeavesItsBlock) {
  for (const Spacing spacing : kSpacings) {
    if (spacing.size == spacing.increment) continue;
    const uint64_t size = spacing.size;
    for (const uint64_t step : {uint64_t{1}, size - 1, size, size + 1, 3 * size}) {
      if (step == 0) continue;
      Segment segment{};
      // The second run begins within what would be a block, were blocks counted by the position.
      publish(segment, 1000, 1, spacing);
      publish(segment, 9000, 4 * size + (size + 1) / 2, spacing);
      ExpectDrawn(draw(segment, 1), 1000, 1);
      Numbers numbers;
      for (;;) {
        const Drawn drawn = draw(segment, static_cast<uint32_t>(step));
        if (drawn.count == 0) break;
        const uint64_t in_block = static_cast<uint64_t>(drawn.first - 9000) % spacing.increment;
        EXPECT_LE(in_block + drawn.count, size);
        EXPECT_TRUE(drawn.count == step || in_block + drawn.count == size || !has_numbers(segment));
        for (uint32_t i = 0; i < drawn.count; i++) numbers.push_back(drawn.first + i);
      }
      EXPECT_EQ(numbers, NumbersOf(9000, 4 * size + (size + 1) / 2, spacing));
    }
  }
}

TEST(Draw, BlocksWithoutGapsAreOne) {
  Segment segment{};
  publish(segment, 0, 3000, {1000, 1000});
  ExpectDrawn(draw(segment, 500), 0, 500);
  ExpectDrawn(draw(segment, 2000), 500, 2000);
  ExpectDrawn(draw(segment, 2000), 2500, 500);
}

TEST(Draw, EveryNumberOfTheBlocksComesOnce) {
  for (const Spacing spacing : kSpacings) {
    for (const uint32_t want : {1u, 2u, 3u, 999u, 1000u, 1001u, 5000u}) {
      for (const uint64_t count : {uint64_t{1}, spacing.size, 5 * spacing.size + 1}) {
        Segment segment{};
        publish(segment, -77, count, spacing);
        EXPECT_EQ(DrawAll(segment, want), NumbersOf(-77, count, spacing));
        ExpectEmpty(segment);
      }
    }
  }
}

TEST(Publish, WaitsBehindWhatIsLeft) {
  Segment segment{};
  EXPECT_TRUE(has_room(segment));
  publish(segment, 0, 10, kDense);
  EXPECT_TRUE(has_room(segment));
  publish(segment, 100, 10, kDense);
  EXPECT_FALSE(has_room(segment));
  DrawAll(segment, 1, 9);
  EXPECT_FALSE(has_room(segment));
  ExpectDrawn(draw(segment, 1), 9, 1);
  EXPECT_TRUE(has_room(segment));
  EXPECT_TRUE(has_numbers(segment));
  publish(segment, 200, 10, kDense);
  EXPECT_FALSE(has_room(segment));
  const Numbers all = Joined(NumbersOf(100, 10, kDense), NumbersOf(200, 10, kDense));
  EXPECT_EQ(DrawAll(segment, 1), all);
  ExpectEmpty(segment);
}

TEST(Publish, RunsFollowOneAnotherForEver) {
  for (const uint64_t ahead : {0, 1, 3}) {
    Segment segment{};
    Numbers allocated, drawn;
    for (uint64_t i = 0; i < 500; i++) {
      const uint64_t count = 4 + i % 7;
      const Numbers run = NumbersOf(static_cast<int64_t>(100 * i), count, {2, 3});
      publish(segment, run.front(), count, {2, 3});
      allocated = Joined(allocated, run);
      // To the end of the last run, or nearly.
      drawn = Joined(drawn, DrawAll(segment, 1, allocated.size() - drawn.size() - ahead));
      EXPECT_TRUE(has_room(segment));
    }
    EXPECT_EQ(Joined(drawn, DrawAll(segment, 1)), allocated);
  }
}

TEST(Publish, NothingLeftMayBeFollowedByAnotherSpacing) {
  Segment segment{};
  for (const Spacing spacing : kSpacings) {
    publish(segment, -5, 2 * spacing.size + 1, spacing);
    EXPECT_EQ(DrawAll(segment, 3), NumbersOf(-5, 2 * spacing.size + 1, spacing));
  }
}

TEST(Publish, ReachesTheEndsOfInt64) {
  for (const Spacing spacing : kSpacings) {
    const uint64_t count = 3 * spacing.size;
    const uint64_t width = 2 * spacing.increment + spacing.size;
    const int64_t last_first = static_cast<int64_t>(uint64_t{INT64_MAX} - (width - 1));
    for (const int64_t first : {last_first, INT64_MIN, -static_cast<int64_t>(width / 2)}) {
      Segment segment{};
      publish(segment, first, count, spacing);
      const Numbers numbers = DrawAll(segment, 2);
      EXPECT_EQ(numbers, NumbersOf(first, count, spacing));
      EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
      EXPECT_EQ(numbers.back() == INT64_MAX, first == last_first);
    }
  }
}

// Draws one by one and expects to be told from the tenth of `count` on, and never again before.
void ExpectAlertAtATenth(Segment& segment, uint64_t count) {
  EXPECT_FALSE(is_running_low(segment));
  for (uint64_t used = 1; used <= count; used++) {
    const bool is_low = 10 * used >= count;
    const Drawn drawn = draw(segment, 1);
    ASSERT_EQ(drawn.count, 1u);
    if (drawn.is_low != is_low || is_running_low(segment) != is_low)
      FAIL() << used << " of " << count;
  }
}

TEST(Alert, ComesWhenATenthIsUsed) {
  std::vector<uint64_t> counts{1000, 1001};
  for (uint64_t count = 1; count <= 25; count++) counts.push_back(count);
  Segment segment{};
  for (const uint64_t count : counts) {
    publish(segment, 0, count, kDense);
    ExpectAlertAtATenth(segment, count);
    // Of a run that waits behind another it is the tenth of the later one.
    publish(segment, 0, 17, kDense);
    publish(segment, 17, count, kDense);
    for (int i = 0; i < 17; i++) EXPECT_FALSE(draw(segment, 1).is_low);
    ExpectAlertAtATenth(segment, count);
    ExpectEmpty(segment);
  }
}

TEST(Alert, ComesToWhoeverDrawsPastIt) {
  for (uint32_t want = 1; want <= 100; want++) {
    Segment segment{};
    publish(segment, 0, 100, kDense);
    EXPECT_EQ(draw(segment, want).is_low, want >= 10);
    EXPECT_EQ(is_running_low(segment), want >= 10);
  }
}

TEST(Alert, RestsUntilMoreIsAllocatedAfterStopAlert) {
  Segment segment{};
  publish(segment, 0, 10, kDense);
  stop_alert(segment);
  EXPECT_FALSE(is_running_low(segment));
  for (int64_t i = 0; i < 10; i++) {
    const Drawn drawn = draw(segment, 1);
    ExpectDrawn(drawn, i, 1);
    EXPECT_FALSE(drawn.is_low);
  }
  EXPECT_FALSE(is_running_low(segment));
  EXPECT_FALSE(has_numbers(segment));
  EXPECT_EQ(draw(segment, 1).count, 0u);
  publish(segment, 10, 20, kDense);
  ExpectAlertAtATenth(segment, 20);
}

TEST(LastGiven, IsWhatWasDrawnLast) {
  Segment segment{};
  int64_t number = -1;
  EXPECT_FALSE(last_given(segment, &number));
  publish(segment, 5, 4, {2, 10});
  EXPECT_FALSE(last_given(segment, &number));
  publish(segment, 105, 4, {2, 10});
  for (const int64_t expected : {5, 6, 15, 16, 105, 106, 115, 116}) {
    ExpectDrawn(draw(segment, 1), expected, 1);
    EXPECT_TRUE(last_given(segment, &number));
    EXPECT_EQ(number, expected);
  }
  publish(segment, INT64_MAX - 1, 2, {2, 10});
  EXPECT_TRUE(last_given(segment, &number));
  EXPECT_EQ(number, 116);
  ExpectDrawn(draw(segment, 2), INT64_MAX - 1, 2);
  EXPECT_TRUE(last_given(segment, &number));
  EXPECT_EQ(number, INT64_MAX);
}

TEST(LastGiven, CountsWhatWasGivenUp) {
  Segment segment{};
  int64_t number = -1;
  publish(segment, 1, 10, kDense);
  draw(segment, 1);
  forget(segment);
  EXPECT_TRUE(last_given(segment, &number));
  EXPECT_EQ(number, 10);
  // Of numbers that are less, too, once one of them is drawn.
  publish(segment, 3, 10, kDense);
  draw(segment, 2);
  EXPECT_TRUE(last_given(segment, &number));
  EXPECT_EQ(number, 4);
}

TEST(Forget, GivesUpEverythingThatIsLeft) {
  for (int drawn = 0; drawn <= 20; drawn++) {
    for (const uint64_t runs : {1, 2}) {
      Segment segment{};
      for (uint64_t i = 0; i < runs; i++) publish(segment, 1000, 10, kDense);
      DrawAll(segment, 1, static_cast<uint64_t>(drawn));
      forget(segment);
      ExpectEmpty(segment);
      EXPECT_TRUE(is_running_low(segment));
      // Lower numbers, and of another spacing.
      publish(segment, -50, 7, {2, 5});
      EXPECT_TRUE(has_room(segment));
      publish(segment, 0, 9, {2, 5});
      EXPECT_FALSE(has_room(segment));
      EXPECT_FALSE(is_running_low(segment));
      EXPECT_EQ(DrawAll(segment, 1), Joined(NumbersOf(-50, 7, {2, 5}), NumbersOf(0, 9, {2, 5})));
    }
  }
}

TEST(Forget, OfNothingLeavesNothing) {
  Segment segment{};
  forget(segment);
  ExpectEmpty(segment);
  publish(segment, 3, 2, kDense);
  DrawAll(segment, 1);
  forget(segment);
  forget(segment);
  ExpectEmpty(segment);
  publish(segment, 1, 2, kDense);
  EXPECT_EQ(DrawAll(segment, 9), NumbersOf(1, 2, kDense));
}

TEST(Forget, WakesAStoppedAlert) {
  Segment segment{};
  publish(segment, 0, 10, kDense);
  stop_alert(segment);
  forget(segment);
  EXPECT_TRUE(is_running_low(segment));
}

// Every number that is left, run by run, and when it is time to refill.
struct Model {
  enum class Alert { kOn, kAlways, kNever };

  std::deque<std::deque<int64_t>> runs;
  Alert alert = Alert::kAlways;
  uint64_t allocated = 0;  // in the last run
  uint64_t given = 0;      // numbers, ever

  uint64_t left_in() const {
    uint64_t left = 0;
    for (const auto& run : runs) left += run.size();
    return left;
  }
  bool is_running_low() const {
    if (alert != Alert::kOn) return alert == Alert::kAlways;
    const uint64_t left = left_in();
    return left <= allocated && 10 * (allocated - left) >= allocated;
  }
  // As many as are wanted, follow one another and were allocated at once.
  Numbers draw(uint32_t want) {
    Numbers numbers;
    while (!runs.empty() && numbers.size() < want) {
      if (!numbers.empty() && runs.front().front() != numbers.back() + 1) break;
      numbers.push_back(runs.front().front());
      runs.front().pop_front();
      if (!runs.front().empty()) continue;
      runs.pop_front();
      break;
    }
    given += numbers.size();
    return numbers;
  }
};

void ExpectLikeModel(const Segment& segment, const Model& model) {
  ASSERT_EQ(has_numbers(segment), !model.runs.empty());
  ASSERT_EQ(has_room(segment), model.runs.size() < 2);
  ASSERT_EQ(is_running_low(segment), model.is_running_low());
  ASSERT_EQ(left_in(segment), model.left_in());
  ASSERT_EQ(given_by(segment), model.given);
}

void DrawLikeModel(Segment& segment, Model* model, uint32_t want) {
  const Numbers numbers = model->draw(want);
  const Drawn drawn = draw(segment, want);
  ASSERT_EQ(drawn.count, numbers.size());
  if (drawn.count == 0) return;
  ASSERT_EQ(drawn.first, numbers.front());
  ASSERT_EQ(drawn.is_low, model->is_running_low());
}

TEST(Segment, IsLikeAModelThatHoldsEveryNumber) {
  for (uint64_t seed = 1; seed <= 20; seed++) {
    Random random(seed);
    Segment segment{};
    Model model;
    Spacing spacing = kDense;
    for (int step = 0; step < 5000; step++) {
      const uint64_t action = random.Below(100);
      if (action < 25 && model.runs.size() < 2) {
        if (model.runs.empty()) spacing = kSpacings[random.Below(std::size(kSpacings))];
        const uint64_t count = 1 + random.UpTo(random.Below(2) == 0 ? 3 * spacing.size : 30);
        const int64_t first = random.In(-1000000, 1000000);
        const Numbers numbers = NumbersOf(first, count, spacing);
        publish(segment, first, count, spacing);
        model.runs.emplace_back(numbers.begin(), numbers.end());
        model.alert = Model::Alert::kOn;
        model.allocated = count;
      } else if (action == 98) {
        forget(segment);
        model.runs.clear();
        model.alert = Model::Alert::kAlways;
      } else if (action == 99) {
        stop_alert(segment);
        model.alert = Model::Alert::kNever;
      } else {
        DrawLikeModel(segment, &model, 1 + static_cast<uint32_t>(random.UpTo(2000)));
      }
      ExpectLikeModel(segment, model);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
