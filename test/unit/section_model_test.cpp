// A property test of core/section.hpp: thousands of calls with few places and ten times as many
// keys, against a list by use and a map. And, against all that was ever given to it, that a key's
// numbers increase for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/section.hpp"
#include "key_tables.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

class Model {
 public:
  uint32_t capacity;
  SectionState state{};

  explicit Model(uint32_t capacity) : capacity(capacity) {}

  SectionStatus Next(int64_t key, int64_t limit, bool may_evict, int64_t* number) {
    const auto found = places_.find(key);
    const bool is_known = found != places_.end();
    const int64_t last = is_known ? found->second->last : state.floor;
    if (last >= limit) return SectionStatus::kAtLimit;
    if (is_known) {
      by_use_.erase(found->second);
    } else if (by_use_.size() == capacity) {
      if (!may_evict) return SectionStatus::kNoRoom;
      DropOldest();
    }
    *number = last + 1;
    by_use_.push_front({key, *number});
    places_[key] = by_use_.begin();
    state.highest = std::max(state.highest, *number);
    return SectionStatus::kOk;
  }
  void Resize(uint32_t new_capacity, uint32_t most) {
    while (by_use_.size() > most) DropOldest();
    capacity = new_capacity;
  }
  void Clear() { Resize(capacity, 0); }

  std::vector<KeyLast> Keys() const { return {by_use_.begin(), by_use_.end()}; }
  bool Knows(int64_t key) const { return places_.contains(key); }

 private:
  void DropOldest() {
    state.floor = std::max(state.floor, by_use_.back().last);
    places_.erase(by_use_.back().key);
    by_use_.pop_back();
  }

  std::list<KeyLast> by_use_;  // the most recently used first
  std::map<int64_t, std::list<KeyLast>::iterator> places_;
};

// Keys that are next to each other, at both ends and around 0, and any others.
std::vector<int64_t> MakeKeys(size_t count, Random* random) {
  std::vector<int64_t> keys;
  for (size_t i = 0; i < count; i++) {
    const auto step = static_cast<int64_t>(i / 4);
    const int64_t kinds[] = {INT64_MIN + step, INT64_MAX - step, step,
                             static_cast<int64_t>(random->Next())};
    keys.push_back(kinds[i % 4]);
  }
  return keys;
}

// The table is the model's: its keys, their order both ways, and what is found.
void ExpectLikeModel(const Table& table, const SectionState& state, const Model& model,
                     const std::vector<int64_t>& keys) {
  ASSERT_EQ(table->capacity, model.capacity);
  ASSERT_EQ(state.floor, model.state.floor);
  ASSERT_EQ(state.highest, model.state.highest);
  std::vector<KeyLast> expected = model.Keys();
  ASSERT_EQ(table->count, expected.size());
  ASSERT_EQ(KeysOf(table), expected);
  std::reverse(expected.begin(), expected.end());
  ASSERT_EQ(KeysFromOldest(table), expected);
  for (const int64_t key : keys) {
    const uint32_t at = FindKey(table.get(), key);
    ASSERT_EQ(at != kNoNode, model.Knows(key)) << key;
    if (at == kNoNode) continue;
    ASSERT_EQ(table->nodes[at].key, key);
  }
  uint32_t chained = 0;
  for (uint32_t i = 0; i < table->capacity; i++)
    for (uint32_t at = KeyTableHeads(table.get())[i]; at != kNoNode; at = table->nodes[at].chain) {
      ASSERT_EQ(HeadOf(table.get(), table->nodes[at].key), KeyTableHeads(table.get()) + i);
      ASSERT_LE(++chained, table->count);
    }
  ASSERT_EQ(chained, table->count);
}

class SectionModel : public testing::TestWithParam<uint32_t> {
 protected:
  // One call of NextOfKey, in the table and in the model.
  void Next(int64_t key, int64_t limit, bool may_evict) {
    int64_t number = -1;
    int64_t expected = -1;
    const SectionStatus status = NextOfKey(table_->get(), &state_, key, limit, may_evict, &number);
    ASSERT_EQ(status, model_->Next(key, limit, may_evict, &expected));
    ASSERT_EQ(number, expected);
    if (status != SectionStatus::kOk) return;
    ASSERT_LE(number, limit);
    const auto [last, is_first] = ever_.try_emplace(key, number);
    if (is_first) return;
    ASSERT_GT(number, std::exchange(last->second, number)) << key;
  }

  // The keys move to a table of another capacity, as when it has grown.
  void Move(uint32_t capacity, uint32_t most) {
    auto to = std::make_unique<Table>(capacity);
    state_.floor = std::max(state_.floor, CopyKeys(table_->get(), to->get(), most));
    table_ = std::move(to);
    model_->Resize(capacity, most);
  }

  void Start(uint32_t capacity) {
    table_ = std::make_unique<Table>(capacity);
    model_ = std::make_unique<Model>(capacity);
    state_ = {};
    ever_.clear();
  }

  void Step(Random* random, const std::vector<int64_t>& keys) {
    switch (random->Below(200)) {
      case 0:
        ClearKeys(table_->get());
        state_.floor = std::max(state_.floor, state_.highest);
        model_->Clear();
        model_->state.floor = state_.floor;
        break;
      case 1: {
        const uint32_t grown = model_->capacity + (model_->capacity + 1) / 2;
        if (grown < 20 * GetParam()) Move(grown, grown);
        break;
      }
      case 2: {
        const auto most = static_cast<uint32_t>(random->Below(model_->capacity + 1));
        Move(std::max(most, GetParam()), most);
        break;
      }
      default: {
        // Some keys are used far more often than others.
        const uint64_t range = random->Below(2) == 0 ? keys.size() : keys.size() / 8 + 1;
        const int64_t limit =
            random->Below(4) == 0 ? state_.highest + random->In(-3, 1) : INT64_MAX;
        Next(keys[random->Below(range)], limit, random->Below(8) != 0);
      }
    }
  }

  std::unique_ptr<Table> table_;
  std::unique_ptr<Model> model_;
  SectionState state_{};
  std::map<int64_t, int64_t> ever_;  // the last number that a key was ever given
};

INSTANTIATE_TEST_SUITE_P(Capacities, SectionModel, testing::Values(1, 2, 3, 7, 100));

TEST_P(SectionModel, IsAListByUseAndAMap) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    Random random(seed);
    const std::vector<int64_t> keys = MakeKeys(10 * GetParam(), &random);
    Start(GetParam());
    for (int step = 0; step < 4000; step++) {
      Step(&random, keys);
      if (step % (GetParam() < 10 ? 1 : 100) == 0) ExpectLikeModel(*table_, state_, *model_, keys);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

// Without anything else between: every call makes the longest-unused key leave, or finds its own.
TEST_P(SectionModel, KeysComeAndGoInTurn) {
  Random random(11);
  const std::vector<int64_t> keys = MakeKeys(10 * GetParam(), &random);
  Start(GetParam());
  for (int round = 0; round < 5; round++) {
    for (const int64_t key : keys) {
      Next(key, INT64_MAX, true);
      Next(key, INT64_MAX, false);
      if (HasFatalFailure()) FAIL() << "round " << round << ", key " << key;
    }
    ExpectLikeModel(*table_, state_, *model_, keys);
  }
}

}  // namespace
}  // namespace snowid::core::test
