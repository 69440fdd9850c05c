// Scattered IDs: the last decimal digits behind the first one. Increasing keys send all writes to
// one region of TiDB; with the digit that changes fastest in second place, to ten. Pure functions.
#pragma once

#include <cstdint>

#include "core/types.hpp"

namespace snowid::core {

inline constexpr int kMostScatterDigits = 3;

// The places at which an ID's decimal digits are cut.
struct DigitPlaces {
  uint64_t first;  // the value of a one in the ID's first digit
  uint64_t moved;  // 10 to the number of digits to move
};

// Fails with kDigitsOutOfRange unless digits is 1 to kMostScatterDigits, with kNegativeId, and with
// kTooFewDigits unless the ID has more digits than are moved.
constexpr Status cut_digits(Id id, int digits, DigitPlaces* places) noexcept {
  if (digits < 1 || digits > kMostScatterDigits) return Status::kDigitsOutOfRange;
  if (id.value < 0) return Status::kNegativeId;
  uint64_t first = 1;
  for (uint64_t rest = static_cast<uint64_t>(id.value); rest >= 10; rest /= 10) first *= 10;
  uint64_t moved = 1;
  for (int digit = 0; digit < digits; digit++) moved *= 10;
  if (first < moved) return Status::kTooFewDigits;
  *places = {first, moved};
  return Status::kOk;
}

// Fails with kResultOutOfRange: not all 19 digits are a bigint.
constexpr Status join_digits(uint64_t digits, Id* id) noexcept {
  if (digits > uint64_t{INT64_MAX}) return Status::kResultOutOfRange;
  *id = {static_cast<int64_t>(digits)};
  return Status::kOk;
}

// Moves the last digits of an ID, in their order, behind its first digit. Fails with
// kDigitsOutOfRange, kNegativeId, kTooFewDigits, or kResultOutOfRange.
constexpr Status scatter(Id id, int digits, Id* scattered) noexcept {
  DigitPlaces places{};
  const Status status = cut_digits(id, digits, &places);
  if (status != Status::kOk) return status;
  const uint64_t number = static_cast<uint64_t>(id.value);
  const uint64_t head = number / places.first * places.first;
  const uint64_t middle = number % places.first / places.moved;
  const uint64_t tail = number % places.moved;
  return join_digits(head + tail * (places.first / places.moved) + middle, scattered);
}

// The inverse of scatter(), with the same results on failure.
constexpr Status unscatter(Id scattered, int digits, Id* id) noexcept {
  DigitPlaces places{};
  const Status status = cut_digits(scattered, digits, &places);
  if (status != Status::kOk) return status;
  const uint64_t number = static_cast<uint64_t>(scattered.value);
  const uint64_t head = number / places.first * places.first;
  const uint64_t middle = number % (places.first / places.moved);
  const uint64_t tail = number % places.first / (places.first / places.moved);
  return join_digits(head + middle * places.moved + tail, id);
}

}  // namespace snowid::core
