// The adapting step: how many blocks of numbers a segment or section makes durable at a time. It
// depends on how long the last ones lasted. The idea is Leaf's. Plain arithmetic; nothing here is
// shared.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowid::core {

// The most numbers that the step goes up to, unless a block has more.
inline constexpr uint64_t kMostNumbers = 1'000'000;

// How long blocks should last. In between the step stays as it is.
struct Lasting {
  int64_t least_us;
  int64_t most_us;
};

// How many blocks of `size` numbers to take after `blocks` were taken, and lasted for so many
// microseconds: twice as many if that was too short, but no more than kMostNumbers numbers; half if
// it was too long, but at least one. blocks: at least 1.
constexpr uint64_t adapted_step(uint64_t blocks, uint64_t size, int64_t lasted_us,
                                Lasting wanted) noexcept {
  if (lasted_us < wanted.least_us) {
    if (blocks <= kMostNumbers / size / 2) return blocks * 2;
  } else if (lasted_us > wanted.most_us) {
    return std::max<uint64_t>(blocks / 2, 1);
  }
  return blocks;
}

}  // namespace snowid::core
