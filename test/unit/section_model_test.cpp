// A property test of core/section.hpp: thousands of calls with few places and ten times as many
// keys, against a map, and a list by use that forgets nothing. A key that is known goes on by one;
// one that is not begins above all that left. One that leaves was not used since half as many
// others were as there is room for. And, against all that was ever given to it, that a key's
// numbers increase for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/section.hpp"
#include "key_tables.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

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

// The keys in the order of their last uses, whether or not they are known.
class Uses {
 public:
  void Note(int64_t key) {
    by_use_.remove(key);
    by_use_.push_front(key);
  }
  // How many other keys were used since this one was.
  uint32_t Since(int64_t key) const {
    const auto its = std::find(by_use_.begin(), by_use_.end(), key);
    return static_cast<uint32_t>(std::distance(by_use_.begin(), its));
  }
  std::set<int64_t> Keys() const { return {by_use_.begin(), by_use_.end()}; }

 private:
  std::list<int64_t> by_use_;
};

// Each key is in one list, which is not a later one than it belongs into, and in its chain. As many
// as are counted were used in this generation.
void ExpectInOrder(const Table& table) {
  std::set<uint32_t> places;
  const KeyList* lists[] = {&table->current, &table->previous, &table->old};
  for (uint64_t age = 0; age < std::size(lists); age++)
    for (const uint32_t at : PlacesOf(table, *lists[age])) {
      ASSERT_TRUE(places.insert(at).second);
      ASSERT_LE(age_of(table.get(), at), age == 2 ? UINT64_MAX : age);
    }
  ASSERT_EQ(places.size(), table->count);
  uint32_t used = 0;
  for (uint32_t at = 0; at < table->count; at++) {
    if (age_of(table.get(), at) == 0) used++;
    ASSERT_EQ(find_key(table.get(), table->nodes[at].key), at);
  }
  ASSERT_EQ(table->used, used);
  uint32_t chained = 0;
  for (uint32_t i = 0; i < table->capacity; i++)
    for (uint32_t at = key_table_heads(table.get())[i]; at != kNoNode; at = table->nodes[at].chain)
      ASSERT_LE(++chained, table->count);
  ASSERT_EQ(chained, table->count);
}

class SectionModel : public testing::TestWithParam<uint32_t> {
 protected:
  // One draw, in the table and in the model.
  void Next(int64_t key, int64_t limit, bool may_evict) {
    int64_t number = -1;
    const auto before = Known();
    const int64_t floor_before = floor_;
    const SectionStatus status = draw(*table_, &floor_, key, limit, may_evict, &number);
    const auto now = Known();
    ASSERT_GE(floor_, floor_before);
    const auto its = before.find(key);
    const bool is_new = its == before.end();
    const int64_t last = is_new ? floor_ : its->second;
    if (status != SectionStatus::kOk) {
      ASSERT_EQ(now, before);
      if (status == SectionStatus::kNoRoom) {
        ASSERT_TRUE(is_new && before.size() == table_->get()->capacity && !may_evict);
      } else {
        // Or the one that would have left has a number that is the limit.
        ASSERT_TRUE(last >= limit || (is_new && before.size() == table_->get()->capacity &&
                                      may_evict && Greatest(before) >= limit));
      }
      return;
    }
    ASSERT_EQ(number, last + 1);
    ASSERT_LE(number, limit);
    uses_.Note(key);
    old_.erase(key);
    ExpectOnlyChanged(before, now, key, number, is_new);
    ASSERT_EQ(table_->get()->evicted, evicted_);
    const auto [ever, is_first] = ever_.try_emplace(key, number);
    if (is_first) return;
    ASSERT_GT(number, std::exchange(ever->second, number)) << key;
  }

  // The keys move to a table of another capacity, as when it has grown, or was made smaller.
  void Move(uint32_t capacity, uint32_t most) {
    auto to = std::make_unique<Table>(capacity);
    const auto before = Known();
    const int64_t left_out = copy_keys(table_->get(), to->get(), most);
    if (capacity < table_->get()->capacity) old_ = uses_.Keys();
    table_ = std::move(to);
    const auto now = Known();
    ASSERT_EQ(now.size(), std::min<size_t>(before.size(), most));
    int64_t expected = INT64_MIN;
    for (const auto& [key, last] : before) {
      const auto its = now.find(key);
      if (its == now.end()) {
        expected = std::max(expected, last);
      } else {
        ASSERT_EQ(its->second, last);
      }
    }
    ASSERT_EQ(left_out, expected);
    evicted_ = before.size() - now.size();
    ASSERT_EQ(table_->get()->evicted, evicted_);
    floor_ = std::max(floor_, left_out);
  }

  void Start(uint32_t capacity) {
    table_ = std::make_unique<Table>(capacity);
    floor_ = 0;
    evicted_ = 0;
    uses_ = {};
    old_.clear();
    ever_.clear();
    least_since_ = UINT32_MAX;
  }

  void Step(Random* random, const std::vector<int64_t>& keys) {
    const uint32_t capacity = table_->get()->capacity;
    switch (random->Below(400)) {
      case 0: {
        const uint32_t grown = capacity + (capacity + 1) / 2;
        if (grown < 5 * GetParam()) Move(grown, grown);
        break;
      }
      case 1: {
        const auto smaller = 1 + static_cast<uint32_t>(random->Below(capacity));
        Move(smaller, smaller);
        break;
      }
      default: {
        // Some keys are used far more often than others.
        const uint64_t range = random->Below(2) == 0 ? keys.size() : capacity / 2 + 1;
        const int64_t limit = random->Below(8) == 0 ? floor_ + random->In(-3, 3) : INT64_MAX;
        Next(keys[random->Below(std::min<uint64_t>(range, keys.size()))], limit,
             random->Below(8) != 0);
      }
    }
  }

  std::map<int64_t, int64_t> Known() const {
    std::map<int64_t, int64_t> known;
    for (const KeyLast& its : KeysOf(*table_)) known[its.key] = its.last;
    return known;
  }

  std::unique_ptr<Table> table_;
  int64_t floor_ = 0;
  uint64_t evicted_ = 0;
  Uses uses_;
  std::set<int64_t> old_;            // keys not used since the table was made smaller
  std::map<int64_t, int64_t> ever_;  // the last number that a key was ever given
  uint32_t least_since_ = UINT32_MAX;

 private:
  static int64_t Greatest(const std::map<int64_t, int64_t>& known) {
    int64_t greatest = INT64_MIN;
    for (const auto& [key, last] : known) greatest = std::max(greatest, last);
    return greatest;
  }

  // Nothing has changed but that the key has the number, and that another has left, if there was no
  // room: one that was not used for long.
  void ExpectOnlyChanged(std::map<int64_t, int64_t> before, const std::map<int64_t, int64_t>& now,
                         int64_t key, int64_t number, bool is_new) {
    const uint32_t capacity = table_->get()->capacity;
    const bool has_left = is_new && before.size() == capacity;
    for (auto its = before.begin(); its != before.end();) {
      if (now.contains(its->first)) {
        ++its;
        continue;
      }
      ASSERT_TRUE(has_left);
      ASSERT_GE(floor_, its->second);
      if (!old_.contains(its->first)) {
        ASSERT_GE(uses_.Since(its->first), capacity / 2 + 1) << "of " << capacity;
        least_since_ = std::min(least_since_, uses_.Since(its->first));
      }
      evicted_++;
      its = before.erase(its);
    }
    before[key] = number;
    ASSERT_EQ(now, before);
  }
};

INSTANTIATE_TEST_SUITE_P(Capacities, SectionModel, testing::Values(1, 2, 3, 4, 5, 7, 8, 60));

TEST_P(SectionModel, IsAMapWhoseKeysLeaveLate) {
  for (uint64_t seed = 1; seed <= 6; seed++) {
    Random random(seed);
    const std::vector<int64_t> keys = MakeKeys(10 * GetParam(), &random);
    Start(GetParam());
    for (int step = 0; step < 3000; step++) {
      Step(&random, keys);
      if (step % (GetParam() < 10 ? 1 : 50) == 0) ExpectInOrder(*table_);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
  }
}

// The bound, with one capacity; and that a key may leave as early as it says, or a test could not
// tell it from another.
TEST_P(SectionModel, KeysLeaveOnceHalfAsManyOthersWereUsed) {
  uint32_t least = UINT32_MAX;
  for (uint64_t seed = 1; seed <= 6; seed++) {
    Random random(seed);
    const std::vector<int64_t> keys = MakeKeys(2 * GetParam() + 2, &random);
    Start(GetParam());
    for (int step = 0; step < 3000; step++) {
      Next(keys[random.Below(random.Below(3) == 0 ? keys.size() : GetParam())], INT64_MAX, true);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", step " << step;
    }
    least = std::min(least, least_since_);
  }
  EXPECT_GE(least, GetParam() / 2 + 1);
  if (GetParam() <= 8) {
    EXPECT_EQ(least, GetParam() / 2 + 1);
  }
}

// Without anything else between: every draw makes a key leave, or finds its own.
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
    ExpectInOrder(*table_);
  }
  // Used in turn they leave in turn: none before as many others as there is room for were used.
  EXPECT_EQ(least_since_, GetParam());
}

}  // namespace
}  // namespace snowid::core::test
