// Tests of core/tick.hpp under eight threads, whose clock jumps both ways and stands still: no tick
// is issued twice, each thread's ticks increase, and so do all ticks in the order in which they are
// issued.
//
// Shared: the tick word under test; a clock that every thread moves; and the greatest tick that any
// Take has returned, by which a Take that begins later is known to be later.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "core/tick.hpp"
#include "layouts.hpp"
#include "random.hpp"
#include "threads.hpp"

namespace snowid::core::test {
namespace {

// Units of four sequences, so that most grants come to the end of one.
constexpr Layout kShortUnits = make_layout({1000, 7, 41, 3, 2, 0});

UnixMicros LastStartOf(const Layout& layout) { return start_of(layout, layout.max_time); }

// A clock that all threads move and that mostly stands still. It drifts forward, so that some Takes
// find it ahead of the tick and others behind.
class ShakyClock {
 public:
  ShakyClock(const Layout& layout, Time start)
      : unit_us_(layout.unit_us), now_(start_of(layout, start).value) {}

  UnixMicros read_count(Random* random) {
    int64_t jump = 0;
    switch (random->Below(256)) {
      case 0:
        jump = random->In(0, 1000) * unit_us_;
        break;
      case 1:
        jump = random->In(-1000, 0) * unit_us_;
        break;
      default:
        if (random->Below(16) == 0) jump = random->In(-20, 40) * unit_us_ + random->In(-1, 1);
    }
    return {now_.fetch_add(jump, std::memory_order_relaxed) + jump};
  }

 private:
  const int64_t unit_us_;
  std::atomic<int64_t> now_;
};

// One shard and what all threads know of it.
struct Shared {
  Layout layout;
  std::atomic<uint64_t> word;
  std::atomic<uint64_t> greatest;  // of all ticks that have been returned, or raised to
  ShakyClock clock;

  Shared(const Layout& layout, Time start)
      : layout(layout),
        word(make_tick(layout, start, {0}).value),
        greatest(word.load()),
        clock(layout, start) {}
};

void RaiseGreatest(Shared* shared, uint64_t tick) {
  uint64_t greatest = shared->greatest.load();
  while (greatest < tick && !shared->greatest.compare_exchange_weak(greatest, tick)) {
  }
}

// What one thread got, and the first thing that was wrong with it.
struct Trace {
  std::vector<Grant> grants;
  std::string fault;
};

// Takes once and checks the grant by itself; false if it was none.
bool TakeChecked(Shared* shared, Trace* trace, Time now, UnixMicros limit, uint32_t want,
                 Span span) {
  const Layout& layout = shared->layout;
  const uint64_t earlier = shared->greatest.load();
  const Grant grant = take(shared->word, layout, now, limit, want, span);
  const auto check = [trace](bool right, const char* fault) {
    if (!right && trace->fault.empty()) trace->fault = fault;
  };
  check(grant.first.value > earlier, "not above a tick that was returned before");
  if (grant.count == 0) {
    check(start_of(layout, time_of(layout, grant.first)) > limit, "refused before the limit");
    return false;
  }
  const Tick end{grant.first.value + grant.count - 1};
  RaiseGreatest(shared, end.value);
  check(time_of(layout, grant.first) >= now, "behind the clock");
  check(start_of(layout, time_of(layout, end)) <= limit, "beyond the limit");
  check(grant.count <= want, "more than wanted");
  if (grant.count < want) {
    check(span == Span::kAny, "part of a run in one unit");
    check(start_of(layout, time_of(layout, {end.value + 1})) > limit,
          "fewer than the limit allows");
  }
  if (span == Span::kOneUnit)
    check(time_of(layout, grant.first) == time_of(layout, end), "one unit became two");
  trace->grants.push_back(grant);
  return true;
}

// Checks the grants of all threads against each other, and gives the number of ticks.
uint64_t ExpectNoneTwice(const std::vector<Trace>& traces) {
  std::vector<Grant> all;
  for (const Trace& trace : traces) {
    EXPECT_EQ(trace.fault, "");
    uint64_t unordered = 0;
    for (size_t i = 1; i < trace.grants.size(); i++) {
      const Grant& before = trace.grants[i - 1];
      unordered += trace.grants[i].first.value < before.first.value + before.count;
    }
    EXPECT_EQ(unordered, 0u) << "grants of one thread do not increase";
    all.insert(all.end(), trace.grants.begin(), trace.grants.end());
  }
  std::sort(all.begin(), all.end(),
            [](const Grant& a, const Grant& b) { return a.first < b.first; });
  uint64_t ticks = 0;
  uint64_t repeated = 0;
  for (size_t i = 0; i < all.size(); i++) {
    ticks += all[i].count;
    repeated += i > 0 && all[i].first.value < all[i - 1].first.value + all[i - 1].count;
  }
  EXPECT_EQ(repeated, 0u) << "grants with a tick that was issued before";
  return ticks;
}

class TickThreads : public testing::TestWithParam<Layout> {};

std::string NameOf(const testing::TestParamInfo<Layout>& layout) {
  constexpr const char* kNames[] = {"Instagram", "ShortUnits", "Twitter"};
  return kNames[layout.index];
}
INSTANTIATE_TEST_SUITE_P(Layouts, TickThreads, testing::Values(kInstagram, kShortUnits, kTwitter),
                         NameOf);

TEST_P(TickThreads, SingleTicksOnAShakyClock) {
  constexpr int kTakes = 150000 / kThinning;
  Shared shared(GetParam(), {1000000000});
  std::vector<Trace> traces(kThreads);
  RunThreads([&](int number) {
    Random random(100 + static_cast<uint64_t>(number));
    Trace* trace = &traces[static_cast<size_t>(number)];
    trace->grants.reserve(kTakes);
    for (int i = 0; i < kTakes; i++)
      TakeChecked(&shared, trace, time_at(shared.layout, shared.clock.read_count(&random)),
                  LastStartOf(shared.layout), 1, Span::kAny);
  });
  EXPECT_EQ(ExpectNoneTwice(traces), uint64_t{kThreads} * kTakes);
}

TEST_P(TickThreads, CountsSpansLimitsAndRaisesMixed) {
  constexpr int kTakes = 150000 / kThinning;
  Shared shared(GetParam(), {1000000000});
  const Layout& layout = shared.layout;
  const uint64_t sequences = layout.max_sequence.value + 1;
  const int64_t unit_us = layout.unit_us;
  std::vector<Trace> traces(kThreads);
  RunThreads([&](int number) {
    Random random(200 + static_cast<uint64_t>(number));
    Trace* trace = &traces[static_cast<size_t>(number)];
    for (int i = 0; i < kTakes; i++) {
      const UnixMicros moment = shared.clock.read_count(&random);
      const Time now = time_at(layout, moment);
      const Span span = random.Below(4) == 0 ? Span::kOneUnit : Span::kAny;
      const uint64_t most = span == Span::kOneUnit ? sequences : 2 * sequences;
      const uint32_t want = 1 + static_cast<uint32_t>(random.UpTo(most - 1));
      switch (random.Below(8)) {
        case 0: {
          // To a little above where the others are now, so that they race with it.
          const Tick floor{shared.word.load() + random.Below(8)};
          raise_to(shared.word, floor);
          RaiseGreatest(&shared, floor.value);
          break;
        }
        case 1:
          raise_to(shared.word, last_tick_at(layout, {moment.value - 50 * unit_us}));
          break;
        case 2:
          if (!TakeChecked(&shared, trace, now, LastStartOf(layout), want, span))
            trace->fault = "refused without a limit";
          break;
        default:
          // Around the last tick, where parts are granted, as often as around the clock.
          const Time near = random.Below(2) == 0 ? now : time_of(layout, {shared.word.load()});
          const int64_t ahead_us = random.In(-2, 5) * unit_us + random.In(-1, 1);
          TakeChecked(&shared, trace, now, {start_of(layout, near).value + ahead_us}, want, span);
      }
    }
  });
  EXPECT_GT(ExpectNoneTwice(traces), 0u);
}

// The clock stands still and all threads take to the limit: every tick up to it is issued, and none
// after it.
void TakeAllUntil(const Layout& layout, Time start, Time last, uint32_t most) {
  Shared shared(layout, start);
  const uint64_t first = shared.word.load() + 1;
  std::vector<Trace> traces(kThreads);
  RunThreads([&](int number) {
    Random random(300 + static_cast<uint64_t>(number));
    Trace* trace = &traces[static_cast<size_t>(number)];
    while (trace->fault.empty() &&
           TakeChecked(&shared, trace, start, start_of(layout, last),
                       1 + static_cast<uint32_t>(random.Below(most)), Span::kAny)) {
    }
  });
  const uint64_t end = make_tick(layout, last, layout.max_sequence).value;
  EXPECT_EQ(shared.word.load(), end);
  EXPECT_EQ(ExpectNoneTwice(traces), end - first + 1);
}

TEST_P(TickThreads, EveryTickUpToTheLimitIsIssuedOnce) {
  const int64_t units = (1000000 / kThinning) >> GetParam().spec.seq_bits();
  TakeAllUntil(GetParam(), {5000}, {5000 + units}, 1);
  TakeAllUntil(GetParam(), {5000}, {5000 + 4 * units}, 7);
}

TEST_P(TickThreads, NothingIsIssuedBeyondTheLayoutsTime) {
  const Time max = GetParam().max_time;
  TakeAllUntil(GetParam(), {max.value - 40}, max, 3);
}

TEST_P(TickThreads, RaisesKeepTheGreatestFloor) {
  constexpr int kRaises = 200000 / kThinning;
  const Layout layout = GetParam();
  Shared shared(layout, {0});
  std::vector<Trace> traces(kThreads);
  std::vector<uint64_t> greatest(kThreads);
  RunThreads([&](int number) {
    Random random(400 + static_cast<uint64_t>(number));
    Trace* trace = &traces[static_cast<size_t>(number)];
    for (int i = 0; i < kRaises; i++) {
      // About where the word is now, so that all of them race there.
      const uint64_t floor = shared.word.load() + random.Below(64);
      raise_to(shared.word, {floor});
      RaiseGreatest(&shared, floor);
      greatest[static_cast<size_t>(number)] =
          std::max(greatest[static_cast<size_t>(number)], floor);
      const uint64_t earlier = shared.greatest.load();
      if (shared.word.load() < earlier && trace->fault.empty()) trace->fault = "below a floor";
    }
  });
  for (const Trace& trace : traces) EXPECT_EQ(trace.fault, "");
  EXPECT_EQ(shared.word.load(), *std::max_element(greatest.begin(), greatest.end()));
}

}  // namespace
}  // namespace snowid::core::test
