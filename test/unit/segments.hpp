// What the tests of core/segment.hpp share: the numbers of spaced blocks, counted one by one.
#pragma once

#include <cstdint>
#include <vector>

#include "core/segment.hpp"

namespace snowid::core::test {

// The next `count` numbers of blocks that begin at `first`.
inline std::vector<int64_t> NumbersOf(int64_t first, uint64_t count, Spacing spacing) {
  std::vector<int64_t> numbers;
  uint64_t block = static_cast<uint64_t>(first);
  uint64_t in_block = 0;
  while (numbers.size() < count) {
    if (in_block == spacing.size) {
      block += spacing.increment;
      in_block = 0;
    }
    numbers.push_back(static_cast<int64_t>(block + in_block++));
  }
  return numbers;
}

// Draws so many at a time until there is nothing left, or `most` have come.
inline std::vector<int64_t> DrawAll(Segment& segment, uint32_t want, uint64_t most = UINT64_MAX) {
  std::vector<int64_t> numbers;
  while (numbers.size() < most) {
    const Drawn drawn = draw(segment, want);
    if (drawn.count == 0) break;
    for (uint32_t i = 0; i < drawn.count; i++)
      numbers.push_back(static_cast<int64_t>(static_cast<uint64_t>(drawn.first) + i));
  }
  return numbers;
}

}  // namespace snowid::core::test
