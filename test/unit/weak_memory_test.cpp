// Tests of core/segment.hpp in a model of C++'s memory (weak_memory.hpp), in
// which values come late and threads take turns at each access: in any of many executions no number
// comes twice, and what each thread gets increases.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "weak_memory.hpp"

// The same code once more, with other atomics, under a name of its own.
namespace snowid::weak::std {
using namespace ::std;
template <typename T>
using atomic = core::test::WeakAtomic<T>;
}  // namespace snowid::weak::std
#define core weak
#include "core/segment.hpp"
#undef core

namespace snowid::core::test {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kExecutions = 1000;
#else
constexpr int kExecutions = 2000;
#endif
constexpr int kThreadsOfModel = 3;

// The model itself: what acquire and release are for, it shows, and what they forbid it does not.

// How often a thread sees a flag and not what was stored before that.
int CountLateValues(std::memory_order store, std::memory_order load) {
  int late = 0;
  for (int seed = 0; seed < 1000; seed++) {
    WeakMemory memory(seed);
    WeakAtomic<int> value, flag;
    memory.Run({[&] {
                  value.store(1, std::memory_order_relaxed);
                  flag.store(1, store);
                },
                [&] {
                  if (flag.load(load) == 1 && value.load(std::memory_order_relaxed) == 0) late++;
                }});
  }
  return late;
}

TEST(WeakMemory, ShowsWhatIsNotOrdered) {
  EXPECT_GT(CountLateValues(std::memory_order_relaxed, std::memory_order_acquire), 0);
  EXPECT_GT(CountLateValues(std::memory_order_release, std::memory_order_relaxed), 0);
  EXPECT_EQ(CountLateValues(std::memory_order_release, std::memory_order_acquire), 0);
}

TEST(WeakMemory, CountsAtOnceAndHandsViewsOn) {
  for (int seed = 0; seed < 1000; seed++) {
    WeakMemory memory(seed);
    WeakAtomic<int> value, count;
    int late = 0;
    memory.Run({[&] {
                  value.store(1, std::memory_order_relaxed);
                  count.fetch_add(1, std::memory_order_release);
                },
                [&] { count.fetch_add(2, std::memory_order_relaxed); },
                [&] {
                  if (count.load(std::memory_order_acquire) % 2 == 1) {
                    late += value.load(std::memory_order_relaxed) == 0;
                  }
                }});
    ASSERT_EQ(count.load(), 3);
    ASSERT_EQ(late, 0);
  }
}

TEST(WeakMemory, KeepsOthersFromALock) {
  for (int seed = 0; seed < 1000; seed++) {
    WeakMemory memory(seed);
    WeakLock lock;
    WeakAtomic<int> value;
    const auto add = [&] {
      lock.Lock();
      value.store(value.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      lock.Unlock();
      lock.LockShared();
      EXPECT_GT(value.load(std::memory_order_relaxed), 0);
      lock.UnlockShared();
    };
    memory.Run({add, add, add});
    ASSERT_EQ(value.load(), 3);
  }
}

// A segment as sessions have it: whoever finds it low or empty refills it, one at a time; sometimes
// what is left is given up, and the spacing changes.
class WeakSegment {
 public:
  explicit WeakSegment(bool forgets) : forgets_(forgets) {}

  weak::Drawn draw(uint32_t want) {
    for (;;) {
      const weak::Drawn drawn = weak::draw(segment_, want);
      if (drawn.is_low) Refill();
      if (drawn.count > 0) return drawn;
    }
  }
  uint64_t given_by() { return weak::given_by(segment_); }
  // To be called when all is quiet.
  bool WasPublished(int64_t number) const {
    for (const Piece& piece : published_)
      for (uint64_t i = 0; i < piece.count; i++)
        if (weak::number_at(piece.first, piece.spacing, i) == number) return true;
    return false;
  }

 private:
  struct Piece {
    int64_t first;
    uint64_t count;
    weak::Spacing spacing;
  };

  void Refill() {
    refilling_.Lock();
    if (forgets_ && WeakMemory::Now().random().Below(4) == 0) {
      weak::forget(segment_);
      spacing_.size = 1 + WeakMemory::Now().random().Below(spacing_.increment);
    }
    if (weak::has_room(segment_) && weak::is_running_low(segment_)) {
      const uint64_t blocks = 1 + WeakMemory::Now().random().Below(2);
      const Piece piece{next_, blocks * spacing_.size, spacing_};
      next_ += static_cast<int64_t>(blocks * spacing_.increment);
      published_.push_back(piece);
      weak::publish(segment_, piece.first, piece.count, spacing_);
    }
    refilling_.Unlock();
  }

  const bool forgets_;
  weak::Segment segment_;
  WeakLock refilling_;
  weak::Spacing spacing_{2, 3};
  int64_t next_ = 1;
  std::vector<Piece> published_;
};

// No number comes twice or was never published; each thread's increase, and so does what it sees of
// how many were given.
void TrySegment(uint64_t seed, bool forgets) {
  WeakMemory memory(seed);
  WeakSegment segment(forgets);
  std::set<int64_t> given;
  bool is_right = true;
  const auto draw = [&] {
    int64_t last = 0;
    uint64_t count = 0;
    for (int i = 0; i < 5; i++) {
      const weak::Drawn drawn = segment.draw(static_cast<uint32_t>(1 + memory.random().Below(2)));
      for (uint32_t j = 0; j < drawn.count; j++) {
        is_right &= drawn.first + j > last && given.insert(drawn.first + j).second;
        last = drawn.first + j;
      }
      const uint64_t now = segment.given_by();
      is_right &= now > count;
      count = now;
    }
  };
  memory.Run(std::vector<std::function<void()>>(kThreadsOfModel, draw));
  for (const int64_t number : given) is_right &= segment.WasPublished(number);
  ASSERT_TRUE(is_right) << "seed " << seed;
}

TEST(WeakSegmentTest, GivesNoNumberTwice) {
  for (int seed = 0; seed < kExecutions; seed++) TrySegment(seed, false);
}

TEST(WeakSegmentTest, GivesNoNumberTwiceWhereWhatIsLeftIsGivenUp) {
  for (int seed = 0; seed < kExecutions; seed++) TrySegment(seed, true);
}

}  // namespace
}  // namespace snowid::core::test
