// The blocks of a remote source, checked against the local sequence: some may be below its value,
// and some above its maximum. Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowid::core {

// Blocks issued by the source, from `first` on, `increment` apart.
struct GivenBlocks {
  int64_t first;
  int64_t blocks;     // at least 1
  int64_t increment;  // at least 1
  int64_t max;        // the remote sequence's maximum
};

// Whether the blocks are within the remote sequence's maximum, each beginning at or below it.
constexpr bool is_possible(const GivenBlocks& given) noexcept {
  if (given.first > given.max) return false;
  const uint64_t room = static_cast<uint64_t>(given.max) - static_cast<uint64_t>(given.first);
  return static_cast<uint64_t>(given.blocks) - 1 <= room / static_cast<uint64_t>(given.increment);
}

struct OwnNumbers {
  bool has_next;  // whether another block can begin
  int64_t next;   // the least number at which it can
  int64_t max;
};

enum class Taking : uint8_t {
  kTaken,
  kBehind,     // they begin below the local sequence
  kExhausted,  // no number is left in either sequence
};

struct TakenBlocks {
  Taking taking;
  // The rest is set with kTaken.
  int64_t first;
  uint64_t blocks;
  int64_t max;    // the maximum of both sequences
  bool has_next;  // whether the local sequence can hold the next number:
  int64_t says;   // then its value is that one, else its maximum
};

constexpr int64_t numbers_above(int64_t number, uint64_t distance) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(number) + distance);
}

// Uses the blocks at or above own.next, and sets the local sequence above all of their numbers.
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
