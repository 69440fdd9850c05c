// Tests of note_use() of core/key_table.hpp under eight threads: a generation ends with no fewer
// keys than it has, and a key is of the generation in which it was last used, or of a later one.
#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "core/key_table.hpp"
#include "random.hpp"
#include "threads.hpp"

namespace snowid::core::test {
namespace {

constexpr uint32_t kMost = 5;
constexpr int kSteps = 200000 / kThinning;

struct Shared {
  explicit Shared(size_t count) : keys(count) {
    for (KeySlot& key : keys) key.generation.store(1);
  }
  std::atomic<uint64_t> uses{kFirstUses};
  std::vector<KeySlot> keys;
};

TEST(NoteUse, EndsNoGenerationEarly) {
  constexpr size_t kOwn = 2 * kMost;
  Shared shared(kOwn * kThreads);
  std::atomic<uint64_t> changed{0};
  RunThreads([&](int thread) {
    Random random(static_cast<uint64_t>(thread));
    uint64_t own_changed = 0;
    for (int step = 0; step < kSteps; step++) {
      KeySlot& key = shared.keys[static_cast<size_t>(thread) * kOwn + random.Below(kOwn)];
      const uint64_t before = key.generation.load();
      note_use(&shared.uses, &key, kMost);
      own_changed += key.generation.load() != before;
    }
    changed += own_changed;
  });
  const uint64_t ended = generation_of(shared.uses.load()) - generation_of(kFirstUses);
  EXPECT_GT(ended, 1000u);
  EXPECT_GE(changed.load(), ended * kMost);
}

TEST(NoteUse, LeavesNoKeyInAnEarlierGeneration) {
  Shared shared(2 * kMost);
  std::atomic<int> wrong{0};
  RunThreads([&](int thread) {
    Random random(static_cast<uint64_t>(thread));
    for (int step = 0; step < kSteps; step++) {
      KeySlot& key = shared.keys[random.Below(shared.keys.size())];
      const uint64_t now = generation_of(shared.uses.load());
      note_use(&shared.uses, &key, kMost);
      if (key.generation.load() < now) wrong++;
    }
  });
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace snowid::core::test
