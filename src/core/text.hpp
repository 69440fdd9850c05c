// IDs as text: base 62, eleven characters, sorted as the IDs are. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/types.hpp"

namespace snowid::core {

// The length of every text, because 62^10 < 2^64 <= 62^11.
inline constexpr size_t kTextLength = 11;

// In ASCII order: under COLLATE "C", texts sort as the numbers do.
inline constexpr std::string_view kTextDigits =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// Flips the sign bit, so that negative numbers become the lower half of the unsigned ones.
inline constexpr uint64_t kTextBias = uint64_t{1} << 63;

// The text of an ID. Every bigint has one, from 00000000000 to LygHa16AHYF.
struct IdText {
  char digits[kTextLength];
  constexpr std::string_view view_of() const noexcept { return {digits, kTextLength}; }
};

constexpr IdText format_text(Id id) noexcept {
  IdText text{};
  uint64_t rest = static_cast<uint64_t>(id.value) ^ kTextBias;
  for (size_t at = kTextLength; at > 0; at--) {
    text.digits[at - 1] = kTextDigits[rest % kTextDigits.size()];
    rest /= kTextDigits.size();
  }
  return text;
}

// Fails with kMalformed without kTextLength digits, kNumberOutOfRange if they exceed a bigint.
constexpr Status parse_text(std::string_view text, Id* id) noexcept {
  if (text.size() != kTextLength) return Status::kMalformed;
  uint64_t number = 0;
  bool fits = true;
  for (const char character : text) {
    const size_t digit = kTextDigits.find(character);
    if (digit == kTextDigits.npos) return Status::kMalformed;
    fits = fits && number <= (UINT64_MAX - digit) / kTextDigits.size();
    number = number * kTextDigits.size() + digit;
  }
  if (!fits) return Status::kNumberOutOfRange;
  *id = {static_cast<int64_t>(number ^ kTextBias)};
  return Status::kOk;
}

}  // namespace snowid::core
