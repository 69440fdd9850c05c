// Tests of core/section.hpp under eight threads: no key is given a number twice, and each key's
// numbers increase, while keys leave, generations end, and the table grows and shrinks. Where no
// key leaves each number comes exactly once.
//
// Shared: a table. As its callers do, who draws shares `draws_`, who adds a key has `adding_`
// alone, beside them, and who does more than that has both alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "core/section.hpp"
#include "key_tables.hpp"
#include "random.hpp"
#include "threads.hpp"

namespace snowid::core::test {
namespace {

class Section {
 public:
  explicit Section(uint32_t capacity) : table_(std::make_unique<Table>(capacity)) {}

  // Returns 0 where the number would be above the limit.
  int64_t Next(int64_t key, int64_t limit) {
    int64_t number = 0;
    {
      std::shared_lock lock(draws_);
      if (draw_known(table_->get(), key, limit, &number)) return number;
    }
    std::lock_guard lock(adding_);
    while (next_of_key(table_->get(), &floor_, key, limit, true, &number) == SectionStatus::kOver) {
      std::lock_guard alone(draws_);
      end_generation(table_->get());
    }
    return number;
  }

  void Move(uint32_t capacity) {
    std::lock_guard lock(adding_);
    auto to = std::make_unique<Table>(capacity);
    std::lock_guard alone(draws_);
    floor_ = std::max(floor_, copy_keys(table_->get(), to->get(), capacity));
    table_ = std::move(to);
  }

  // To be called when all is quiet.
  const Table& table() const { return *table_; }

 private:
  std::mutex adding_;
  std::shared_mutex draws_;
  std::unique_ptr<Table> table_;
  int64_t floor_ = 0;
};

// What a thread drew, by key, in the order in which it came.
using Drawn = std::vector<std::vector<int64_t>>;

// All numbers of a key, in their order. Each thread's came in order.
std::vector<int64_t> AllOf(const std::vector<Drawn>& drawn, uint64_t key) {
  std::vector<int64_t> all;
  for (const Drawn& own : drawn) {
    EXPECT_TRUE(std::is_sorted(own[key].begin(), own[key].end()));
    all.insert(all.end(), own[key].begin(), own[key].end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

constexpr int kCalls = 40000 / kThinning;

TEST(SectionThreads, NoKeyIsGivenANumberTwice) {
  constexpr uint64_t kKeys = 50;
  for (const uint32_t capacity : {1u, 2u, 5u, 25u, 49u, 50u}) {
    for (const bool moves : {false, true}) {
      Section section(capacity);
      std::vector<Drawn> drawn(kThreads, Drawn(kKeys));
      RunThreads([&](int thread) {
        Random random(static_cast<uint64_t>(thread));
        Drawn& own = drawn[static_cast<size_t>(thread)];
        for (int i = 0; i < kCalls / 4; i++) {
          if (moves && random.Below(1000) == 0)
            section.Move(1 + static_cast<uint32_t>(random.Below(60)));
          // Half of the draws are of a few keys, so that some are used while they leave.
          const uint64_t key = random.Below(random.Below(2) == 0 ? kKeys : 3);
          own[key].push_back(section.Next(static_cast<int64_t>(key), INT64_MAX));
        }
      });
      for (uint64_t key = 0; key < kKeys; key++) {
        const std::vector<int64_t> all = AllOf(drawn, key);
        EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "key " << key;
        EXPECT_GT(all.front(), 0);
      }
      uint32_t used = 0;
      const Table& table = section.table();
      for (uint32_t at = 0; at < table->count; at++)
        if (age_of(table.get(), at) == 0) used++;
      EXPECT_EQ(table->used, used);
    }
  }
}

// As many as there is room for, up to a limit: each number once, and none above.
TEST(SectionThreads, KeysThatStayGetEachNumberOnce) {
  struct Case {
    uint64_t keys;
    int64_t limit;
  };
  // In the last one all come to a limit again and again.
  for (const auto [keys, limit] : {Case{1, kCalls}, Case{20, kCalls / 4}, Case{kCalls / 4, 5}}) {
    Section section(static_cast<uint32_t>(keys));
    std::vector<Drawn> drawn(kThreads, Drawn(keys));
    RunThreads([&, keys = keys, limit = limit](int thread) {
      Random random(static_cast<uint64_t>(thread));
      Drawn& own = drawn[static_cast<size_t>(thread)];
      for (uint64_t ended = 0; ended < keys;) {
        // All begin with the same one, and go on to the next when it has come to its end.
        const uint64_t key = std::min(ended + random.Below(3), keys - 1);
        const int64_t number = section.Next(static_cast<int64_t>(key), limit);
        if (number > 0) own[key].push_back(number);
        if (number == 0 && key == ended) ended++;
      }
    });
    for (uint64_t key = 0; key < keys; key++) {
      const std::vector<int64_t> all = AllOf(drawn, key);
      ASSERT_EQ(all.size(), static_cast<size_t>(limit)) << "key " << key;
      for (int64_t i = 0; i < limit; i++) ASSERT_EQ(all[static_cast<size_t>(i)], i + 1);
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
