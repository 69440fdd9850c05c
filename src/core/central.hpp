// Which blocks issued by a remote source the local sequence takes. Some may have been issued here
// before, and some may be above the sequence's maximum. Plain arithmetic; nothing here is shared.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowid::core {

// Blocks that begin at `first`, each `increment` after the one before.
struct GivenBlocks {
  int64_t first;
  int64_t blocks;     // 1 or more
  int64_t increment;  // 1 or more
  int64_t max;        // of the sequence there
};

// The local sequence.
struct OwnNumbers {
  bool has_next;  // whether there is a number that its next block may begin at
  int64_t next;   // the least such number
  int64_t max;
};

enum class Taking : uint8_t {
  kTaken,
  kBehind,     // they begin below the numbers that count as given here
  kExhausted,  // no number is left, here or there
};

struct TakenBlocks {
  Taking taking;
  // The rest is set with kTaken.
  int64_t first;
  uint64_t blocks;
  int64_t max;    // no number of them is above
  bool has_next;  // whether the local sequence can hold the next number:
  int64_t says;   // this is the next one; else it is at its maximum
};

// The number that is so far above another. The caller knows that there is one.
constexpr int64_t numbers_above(int64_t number, uint64_t distance) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(number) + distance);
}

// Takes blocks that begin at or above own.next. The value of the local sequence is then above all
// numbers taken, whatever its increment.
constexpr TakenBlocks take_blocks(const GivenBlocks& given, const OwnNumbers& own) noexcept {
  const int64_t max = std::min(own.max, given.max);
  if (!own.has_next || own.next > max) return {Taking::kExhausted, 0, 0, 0, false, 0};
  const auto increment = static_cast<uint64_t>(given.increment);
  if (given.first < own.next) return {Taking::kBehind, 0, 0, 0, false, 0};
  if (given.first > max) return {Taking::kExhausted, 0, 0, 0, false, 0};
  const uint64_t room = static_cast<uint64_t>(max) - static_cast<uint64_t>(given.first);
  const uint64_t blocks = std::min(static_cast<uint64_t>(given.blocks), room / increment + 1);
  const int64_t last = numbers_above(given.first, (blocks - 1) * increment);
  const bool has_next = increment <= static_cast<uint64_t>(own.max) - static_cast<uint64_t>(last);
  return {Taking::kTaken, given.first,
          blocks,         max,
          has_next,       has_next ? numbers_above(last, increment) : own.max};
}

}  // namespace snowid::core
