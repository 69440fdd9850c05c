// Tests of core/section.hpp under eight threads: no key is given a number twice, and each key's
// numbers increase, while keys leave and the table grows and shrinks.
//
// Shared: a table and its state. As its callers do, the threads guard all of it with one lock.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <mutex>
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

  int64_t Next(int64_t key) {
    std::lock_guard lock(mutex_);
    int64_t number = 0;
    if (NextOfKey(table_->get(), &state_, key, INT64_MAX, true, &number) != SectionStatus::kOk)
      return 0;
    return number;
  }

  void Move(uint32_t capacity) {
    std::lock_guard lock(mutex_);
    auto to = std::make_unique<Table>(capacity);
    state_.floor = std::max(state_.floor, CopyKeys(table_->get(), to->get(), capacity));
    table_ = std::move(to);
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<Table> table_;
  SectionState state_{};
};

TEST(SectionThreads, NoKeyIsGivenANumberTwice) {
  constexpr int kCalls = 40000 / kThinning;
  constexpr uint64_t kKeys = 50;
  for (const uint32_t capacity : {1u, 5u, 49u, 50u}) {
    Section section(capacity);
    // By thread and key, in the order in which they came.
    std::vector<std::vector<std::vector<int64_t>>> numbers(
        kThreads, std::vector<std::vector<int64_t>>(kKeys));
    RunThreads([&](int thread) {
      Random random(static_cast<uint64_t>(thread));
      auto& own = numbers[static_cast<size_t>(thread)];
      for (int i = 0; i < kCalls; i++) {
        if (random.Below(1000) == 0) section.Move(1 + static_cast<uint32_t>(random.Below(60)));
        const uint64_t key = random.Below(kKeys);
        own[key].push_back(section.Next(static_cast<int64_t>(key)));
      }
    });
    for (uint64_t key = 0; key < kKeys; key++) {
      std::vector<int64_t> all;
      for (const auto& own : numbers) {
        EXPECT_TRUE(std::is_sorted(own[key].begin(), own[key].end()));
        all.insert(all.end(), own[key].begin(), own[key].end());
      }
      std::sort(all.begin(), all.end());
      EXPECT_EQ(std::adjacent_find(all.begin(), all.end()), all.end()) << "key " << key;
      EXPECT_GT(all.front(), 0);
    }
  }
}

}  // namespace
}  // namespace snowid::core::test
