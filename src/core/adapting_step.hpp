// The adapting step: how many blocks of numbers a segment or section makes durable at a time,
// depending on how long the last ones lasted, as in Leaf. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowid::core {

// The most numbers of a step, unless one block has more.
inline constexpr uint64_t kMostNumbers = 1'000'000;

// How long blocks should last. In between, the step stays the same.
struct Lasting {
  int64_t least_us;
  int64_t most_us;
};

// The number of blocks of `size` numbers to allocate after `blocks`, at least 1, lasted lasted_us:
// doubled if too short, up to kMostNumbers numbers; halved, but at least one, if too long.
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
