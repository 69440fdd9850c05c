// Tests of closing a tick word and opening it again, in one thread and in eight: a closed word
// issues nothing, all that it has issued is at or below what Close has returned, and all that it
// issues once it is open again is above where it was opened. So close_tick() + 1 is issued by
// nobody.
//
// Shared: the tick word under test, which one thread closes and opens while the others take.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "core/tick.hpp"
#include "layouts.hpp"
#include "random.hpp"
#include "threads.hpp"

namespace snowid::core::test {
namespace {

// Units of four sequences.
constexpr Layout kShortUnits = make_layout({1000, 7, 41, 3, 2, 0});
constexpr Layout kClosedLayouts[] = {kInstagram, kTwitter,     kShortUnits, kNoShard,
                                     kDays,      kWidestShard, kTiny};

Grant TakeAt(std::atomic<uint64_t>& word, const Layout& layout, Time now, uint32_t want = 1,
             Span span = Span::kAny) {
  return take(word, layout, now, layout.last_start, want, span);
}

TEST(TickClosed, IssuesNothingWhateverTheClockSays) {
  for (const Layout& layout : kClosedLayouts) {
    std::atomic<uint64_t> word{make_tick(layout, {0}, {1}).value};
    EXPECT_EQ(close_tick(word, layout), make_tick(layout, {0}, {1}));
    for (const Time now : {Time{-5}, Time{0}, layout.max_time, Time{layout.max_time.value + 1}})
      for (const Span span : {Span::kAny, Span::kOneUnit})
        EXPECT_EQ(TakeAt(word, layout, now, 1, span).count, 0u);
    raise_to(word, last_tick_at(layout, {0}));
    EXPECT_EQ(word.load(), end_of(layout).value);
    EXPECT_EQ(close_tick(word, layout), end_of(layout)) << "closed twice";
  }
}

TEST(TickClosed, GoesOnAboveWhereItIsOpened) {
  for (const Layout& layout : kClosedLayouts) {
    std::atomic<uint64_t> word{make_tick(layout, {0}, {0}).value};
    const Tick last = close_tick(word, layout);
    open_tick(word, {last.value + 1});
    const Grant grant = TakeAt(word, layout, {0});
    EXPECT_EQ(grant.first.value, last.value + 2);
    EXPECT_EQ(grant.count, 1u);
  }
}

// One that has used the layout up cannot be told from a closed one by its word.
TEST(TickClosed, UsedUpIsClosed) {
  std::atomic<uint64_t> word{end_of(kTiny).value - 1};
  EXPECT_EQ(TakeAt(word, kTiny, kTiny.max_time).count, 1u);
  EXPECT_EQ(close_tick(word, kTiny), end_of(kTiny));
}

// The times between which the word was closed, as ticks: nothing lies from `first` to `opened`.
struct Gap {
  Tick last;
  Tick opened;
};

TEST(TickClosed, WhileOthersTake) {
  constexpr int kCloses = 20000 / kThinning;
  for (const Layout& layout : {kInstagram, kShortUnits}) {
    std::atomic<uint64_t> word{make_tick(layout, {1000}, {0}).value};
    std::atomic<bool> is_over{false};
    std::vector<Gap> gaps;
    std::vector<std::vector<Grant>> grants(kThreads);
    RunThreads([&](int number) {
      Random random(500 + static_cast<uint64_t>(number));
      if (number == 0) {
        for (int i = 0; i < kCloses; i++) {
          const Tick last = close_tick(word, layout);
          for (uint64_t wait = random.Below(50); wait > 0; wait--)
            EXPECT_EQ(TakeAt(word, layout, {2000}).count, 0u);
          const Tick opened{last.value + 1 + random.Below(3)};
          open_tick(word, opened);
          gaps.push_back({last, opened});
          while (word.load() == opened.value && random.Below(1000) > 0) {
          }
        }
        is_over = true;
        return;
      }
      while (!is_over) {
        const Grant grant =
            TakeAt(word, layout, {1000}, 1 + static_cast<uint32_t>(random.Below(4)));
        if (grant.count > 0 && grants[static_cast<size_t>(number)].size() < 200000)
          grants[static_cast<size_t>(number)].push_back(grant);
      }
    });
    std::vector<Grant> all;
    for (const std::vector<Grant>& of_one : grants)
      all.insert(all.end(), of_one.begin(), of_one.end());
    std::sort(all.begin(), all.end(),
              [](const Grant& a, const Grant& b) { return a.first < b.first; });
    uint64_t repeated = 0;
    uint64_t in_gap = 0;
    size_t at = 0;
    for (size_t i = 0; i < all.size(); i++) {
      const uint64_t end = all[i].first.value + all[i].count - 1;
      repeated += i > 0 && all[i].first.value < all[i - 1].first.value + all[i - 1].count;
      while (at < gaps.size() && gaps[at].opened.value < all[i].first.value) at++;
      in_gap += at < gaps.size() && end > gaps[at].last.value;
    }
    EXPECT_EQ(repeated, 0u);
    EXPECT_EQ(in_gap, 0u);
    EXPECT_GT(all.size(), 0u);
  }
}

}  // namespace
}  // namespace snowid::core::test
