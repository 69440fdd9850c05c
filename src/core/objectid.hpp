// MongoDB's ObjectID: its 12 bytes and its text. Pure functions.
//
// Source: the BSON specification: 4 bytes of Unix seconds, 5 random bytes of each process, 3 of a
// counter that starts anywhere, all big-endian, so ObjectIDs sort by time.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"

namespace snowid::core {

inline constexpr size_t kObjectIdBytes = 12;
inline constexpr size_t kObjectIdDigits = 2 * kObjectIdBytes;

// Stored as it is: it must need no alignment. Compares as its bytes do, unsigned.
struct ObjectId {
  uint8_t bytes[kObjectIdBytes];
  friend constexpr auto operator<=>(const ObjectId&, const ObjectId&) = default;
};
static_assert(sizeof(ObjectId) == kObjectIdBytes && alignof(ObjectId) == 1);

// Most significant first.
struct ObjectIdParts {
  uint32_t seconds;  // since 1970-01-01 00:00:00 UTC, until 2106-02-07 06:28:15 UTC
  uint64_t random;   // 0 to kMaxObjectIdRandom
  uint32_t counter;  // 0 to kMaxObjectIdCounter
};
inline constexpr uint64_t kMaxObjectIdRandom = (uint64_t{1} << 40) - 1;
inline constexpr uint32_t kMaxObjectIdCounter = (uint32_t{1} << 24) - 1;

// Requires: each part is in its range.
constexpr ObjectId compose_object_id(const ObjectIdParts& parts) noexcept {
  ObjectId id{};
  size_t place = 0;
  const auto put = [&id, &place](uint64_t value, int bytes) {
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
      id.bytes[place++] = static_cast<uint8_t>(value >> shift);
  };
  put(parts.seconds, 4);
  put(parts.random, 5);
  put(parts.counter, 3);
  return id;
}

// The layout of objectid_next()'s ticks: seconds, with the counter as the sequence.
inline constexpr Layout kObjectIdLayout = make_layout({0, 1'000'000, 32, 0, 24, 0});

// With the same random number, a later tick's ObjectID is greater.
constexpr ObjectId object_id_of(Tick tick, uint64_t random) noexcept {
  return compose_object_id({static_cast<uint32_t>(time_of(kObjectIdLayout, tick).value), random,
                            static_cast<uint32_t>(sequence_of(kObjectIdLayout, tick).value)});
}

// The next ObjectID. read_random: reads the random number shared by all processes. take_tick: reads
// the clock and takes a tick. When snowid.return_to_clock() lowers ticks, the random number changes
// before, and again after. It must therefore be the same before take_tick and after: a tick of the
// fast clock never gets the number after the change, nor a repeated tick the number before it.
template <typename ReadRandom, typename TakeTick>
ObjectId next_object_id(ReadRandom read_random, TakeTick take_tick) {
  for (;;) {
    const uint64_t random = read_random();
    const Tick tick = take_tick();
    if (read_random() == random) return object_id_of(tick, random);
  }
}

// Rounded down to a second.
constexpr UnixMicros time_of(const ObjectId& id) noexcept {
  int64_t seconds = 0;
  for (size_t place = 0; place < 4; place++) seconds = seconds << 8 | id.bytes[place];
  return {seconds * 1000000};
}

// Reads 24 hexadecimal digits in either case. Fails with kMalformed.
constexpr Status parse_object_id(std::string_view text, ObjectId* id) noexcept {
  if (text.size() != kObjectIdDigits) return Status::kMalformed;
  *id = {};
  for (size_t place = 0; place < kObjectIdDigits; place++) {
    const char letter = text[place];
    int digit = 0;
    if (letter >= '0' && letter <= '9')
      digit = letter - '0';
    else if (letter >= 'a' && letter <= 'f')
      digit = letter - 'a' + 10;
    else if (letter >= 'A' && letter <= 'F')
      digit = letter - 'A' + 10;
    else
      return Status::kMalformed;
    uint8_t& byte = id->bytes[place / 2];
    byte = static_cast<uint8_t>(byte << 4 | digit);
  }
  return Status::kOk;
}

// Writes 24 hexadecimal digits in lower case, without a terminator.
constexpr void format_object_id(const ObjectId& id, char* text) noexcept {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (const uint8_t byte : id.bytes) {
    *text++ = kDigits[byte >> 4];
    *text++ = kDigits[byte & 15];
  }
}

}  // namespace snowid::core
