// Tests of core/segment.hpp under eight threads that draw, among refillers that publish small runs
// and one that gives them up: no number is drawn twice, none is lost or made up, and none is drawn
// that was given up before; and how many were given is known at any moment.
//
// Shared: the segment under test. The mutex is the refiller's lock; it guards what was published,
// too.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/segment.hpp"
#include "random.hpp"
#include "segments.hpp"
#include "threads.hpp"

namespace snowid::core::test {
namespace {

// What is published after a Forget, up to the next, is a generation. Each has numbers of its own,
// below those of the one before, so that a number tells its generation.
constexpr int kWidthBits = 32;

int64_t FirstOf(uint64_t generation) { return -(static_cast<int64_t>(generation) << kWidthBits); }
uint64_t GenerationOf(int64_t number) { return static_cast<uint64_t>(-(number >> kWidthBits)); }

class Shop {
 public:
  // most: numbers in a run. is_spaced: whether blocks may have gaps.
  Shop(uint64_t seed, uint64_t most, bool is_spaced)
      : random_(seed), most_(most), is_spaced_(is_spaced) {
    StartGeneration();
  }

  Segment& segment() { return segment_; }

  // A generation that every number drawn from now on is of, or of a later one.
  uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

  void RefillIfLow() {
    std::lock_guard lock(mutex_);
    if (is_running_low(segment_) && has_room(segment_)) Refill();
  }
  void RefillIfEmpty() {
    std::lock_guard lock(mutex_);
    if (!has_numbers(segment_)) Refill();
  }
  void RefillIfRoom() {
    std::lock_guard lock(mutex_);
    if (has_room(segment_)) Refill();
  }
  void ForgetAndRefill() {
    std::lock_guard lock(mutex_);
    forget(segment_);
    StartGeneration();
    Refill();
  }

  // For when no thread uses it any more: what was published, by generation.
  const std::deque<std::vector<int64_t>>& published() const { return published_; }

 private:
  void StartGeneration() {
    published_.emplace_back();
    const uint64_t generation = published_.size() - 1;
    next_ = FirstOf(generation);
    generation_.store(generation, std::memory_order_release);
  }

  void Refill() {
    if (!has_numbers(segment_)) {
      const uint64_t size = 1 + random_.Below(4);
      spacing_ = {size, size + (is_spaced_ ? random_.Below(4) : 0)};
    }
    const uint64_t count = 1 + random_.Below(most_);
    const std::vector<int64_t> run = NumbersOf(next_, count, spacing_);
    published_.back().insert(published_.back().end(), run.begin(), run.end());
    next_ = run.back() + 1 + static_cast<int64_t>(random_.Below(3));
    publish(segment_, run.front(), count, spacing_);
  }

  Segment segment_{};
  std::atomic<uint64_t> generation_{0};
  std::mutex mutex_;
  Random random_;
  const uint64_t most_;
  const bool is_spaced_;
  Spacing spacing_{};
  int64_t next_ = 0;
  std::deque<std::vector<int64_t>> published_;
};

// What one thread drew, and the first thing that was wrong with it.
struct Trace {
  std::vector<Drawn> drawn;
  std::string fault;
};

// Draws once and checks that by itself.
Drawn DrawChecked(Shop* shop, Trace* trace, uint32_t want) {
  const uint64_t generation = shop->generation();
  const Drawn drawn = draw(shop->segment(), want);
  const auto check = [trace](bool right, const char* fault) {
    if (!right && trace->fault.empty()) trace->fault = fault;
  };
  if (drawn.count == 0) {
    check(drawn.is_low, "nothing is not low");
    return drawn;
  }
  check(drawn.count <= want, "more than wanted");
  const uint64_t own = GenerationOf(drawn.first);
  check(own >= generation, "given up before");
  if (!trace->drawn.empty()) {
    const Drawn& last = trace->drawn.back();
    const uint64_t before = GenerationOf(last.first);
    check(own >= before, "of a generation before the last");
    check(own != before || drawn.first >= last.first + last.count, "not above the last");
  }
  trace->drawn.push_back(drawn);
  return drawn;
}

// Checks what all threads drew against what was published: the numbers of each generation from its
// first on, each once. Returns how many that were.
uint64_t ExpectEachOnce(const Shop& shop, const std::vector<Trace>& traces) {
  const auto& published = shop.published();
  std::vector<std::vector<int64_t>> drawn(published.size());
  uint64_t count = 0;
  for (const Trace& trace : traces) {
    EXPECT_EQ(trace.fault, "");
    for (const Drawn& some : trace.drawn) {
      count += some.count;
      const uint64_t generation = GenerationOf(some.first);
      if (generation >= drawn.size()) {
        ADD_FAILURE() << some.first << " was never published";
        return count;
      }
      for (uint32_t i = 0; i < some.count; i++) drawn[generation].push_back(some.first + i);
    }
  }
  uint64_t wrong = 0;
  for (size_t generation = 0; generation < drawn.size(); generation++) {
    std::vector<int64_t>& numbers = drawn[generation];
    std::sort(numbers.begin(), numbers.end());
    wrong += numbers.size() > published[generation].size() ||
             !std::equal(numbers.begin(), numbers.end(), published[generation].begin());
  }
  EXPECT_EQ(wrong, 0u) << "generations with a number that was drawn twice, left out or made up";
  return count;
}

struct Case {
  const char* name;
  uint64_t most;       // numbers in a run
  uint32_t most_want;  // numbers drawn at once
  bool is_spaced;
  int refillers;  // threads that do nothing but refill
  bool forgets;   // whether a thread gives up what is left, again and again
};

class SegmentThreads : public testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Cases, SegmentThreads,
                         testing::Values(Case{"RunsOfOne", 1, 1, false, 1, false},
                                         Case{"RunsOfOneForgotten", 1, 1, false, 1, true},
                                         Case{"SmallRuns", 3, 2, false, 0, false},
                                         Case{"SmallRunsForgotten", 3, 2, false, 2, true},
                                         Case{"SpacedRuns", 10, 5, true, 2, false},
                                         Case{"SpacedRunsForgotten", 10, 5, true, 1, true},
                                         Case{"SpacedSinglesForgotten", 10, 1, true, 0, true},
                                         Case{"LongRunsForgotten", 300, 7, true, 0, true}),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(SegmentThreads, DrawEachNumberOnce) {
  constexpr int kDraws = 120000 / kThinning;
  const Case& its = GetParam();
  Shop shop(its.most, its.most, its.is_spaced);
  std::vector<Trace> traces(kThreads);
  std::atomic<int> drawing{kThreads};
  const int forgetters = its.forgets ? 1 : 0;
  bool has_shrunk = false;
  RunThreads(kThreads + its.refillers + forgetters + 1, [&](int number) {
    Random random(100 + static_cast<uint64_t>(number));
    if (number == kThreads + its.refillers + forgetters) {
      uint64_t before = 0;
      while (drawing.load() > 0) {
        const uint64_t given = given_by(shop.segment());
        has_shrunk |= given < before;
        before = given;
      }
    } else if (number >= kThreads + its.refillers) {
      while (drawing.load() > 0) {
        shop.ForgetAndRefill();
        for (uint64_t i = random.Below(20); i > 0; i--) std::this_thread::yield();
      }
    } else if (number >= kThreads) {
      while (drawing.load() > 0) {
        shop.RefillIfRoom();
        if (random.Below(4) == 0) std::this_thread::yield();
      }
    } else {
      Trace* trace = &traces[static_cast<size_t>(number)];
      for (int i = 0; i < kDraws; i++) {
        const auto want = 1 + static_cast<uint32_t>(random.Below(its.most_want));
        const Drawn drawn = DrawChecked(&shop, trace, want);
        // Most try again, so that many read while one publishes.
        if (drawn.count == 0) {
          if (random.Below(4) == 0) shop.RefillIfEmpty();
        } else if (drawn.is_low) {
          shop.RefillIfLow();
        }
      }
      drawing--;
    }
  });
  while (DrawChecked(&shop, &traces[0], 100).count > 0) {
  }
  const uint64_t count = ExpectEachOnce(shop, traces);
  EXPECT_FALSE(has_shrunk) << "fewer numbers were given than before";
  EXPECT_EQ(given_by(shop.segment()), count);
  EXPECT_GT(count, uint64_t{kDraws});
  const std::vector<int64_t>& last = shop.published().back();
  if (!last.empty()) {
    EXPECT_EQ(GenerationOf(traces[0].drawn.back().first), shop.published().size() - 1);
    EXPECT_EQ(traces[0].drawn.back().first + traces[0].drawn.back().count - 1, last.back());
  }
}

// Nobody draws, so none is ever given, at whatever moment of giving up somebody looks.
TEST(SegmentThreads, WhatIsGivenUpIsNeverGiven) {
  constexpr int kRounds = 3000000 / kThinning;
  Segment segment{};
  std::atomic<bool> is_over{false};
  std::atomic<uint64_t> looks{0};
  uint64_t wrong = 0;
  RunThreads(2, [&](int number) {
    if (number == 0) {
      for (int i = 0; i < kRounds || looks.load() == 0; i++) {
        publish(segment, 1, 1000, {1, 1});
        forget(segment);
      }
      is_over.store(true);
    } else {
      while (!is_over.load()) {
        wrong += given_by(segment) != 0;
        looks++;
      }
    }
  });
  EXPECT_EQ(wrong, 0u) << "of " << looks.load();
}

// Each draw is made for a number that was published before, and that nobody else has a right to.
TEST(SegmentThreads, DrawIsNeverEmptyWhereANumberIsLeft) {
  constexpr int64_t kNumbers = 3000000 / kThinning;
  Segment segment{};
  std::mutex mutex;
  int64_t next = 0;
  std::atomic<int64_t> rights{0};
  std::atomic<int64_t> count{0};
  std::atomic<int64_t> empty{0};
  RunThreads([&](int) {
    while (count.load() < kNumbers) {
      int64_t right = rights.load();
      if (right == 0) {
        std::lock_guard lock(mutex);
        if (!has_room(segment)) continue;
        publish(segment, next++, 1, {1, 1});
        rights++;
      } else if (rights.compare_exchange_weak(right, right - 1)) {
        const bool was_empty = draw(segment, 1).count == 0;
        (was_empty ? empty : count)++;
        if (was_empty) rights++;
      }
    }
  });
  EXPECT_EQ(empty.load(), 0);
}

}  // namespace
}  // namespace snowid::core::test
