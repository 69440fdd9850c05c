// Quantities as distinct types: no shard passes as a sequence, no milliseconds as microseconds.
#pragma once

#include <compare>
#include <cstdint>

namespace snowid::core {

// A point in time, in microseconds since 1970-01-01 00:00:00 UTC: the unit of the clock.
struct UnixMicros {
  int64_t value;
  friend constexpr auto operator<=>(const UnixMicros&, const UnixMicros&) = default;
};

// A point in time, in milliseconds since 1970-01-01 00:00:00 UTC: the unit of the stored ceiling.
struct UnixMillis {
  int64_t value;
  friend constexpr auto operator<=>(const UnixMillis&, const UnixMillis&) = default;
};

constexpr UnixMicros micros_of(UnixMillis moment) noexcept { return {moment.value * 1000}; }
constexpr UnixMillis round_up(UnixMicros moment) noexcept { return {(moment.value + 999) / 1000}; }

// A point in time of a layout: whole units since the layout's epoch, negative before it.
struct Time {
  int64_t value;
  friend constexpr auto operator<=>(const Time&, const Time&) = default;
};

// A generator of IDs. Range: 0 to Layout::max_shard.
struct Shard {
  uint64_t value;
  friend constexpr auto operator<=>(const Shard&, const Shard&) = default;
};

// Distinguishes the IDs of one shard and one time unit. Range: 0 to Layout::max_sequence.
struct Sequence {
  uint64_t value;
  friend constexpr auto operator<=>(const Sequence&, const Sequence&) = default;
};

// An ID as PostgreSQL stores it. Never negative if snowid generated it.
struct Id {
  int64_t value;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

// Time and Sequence of a shard's last ID in one word, `time << seq_bits | sequence`, advanced by
// one compare-and-swap. A greater tick is a later ID.
struct Tick {
  uint64_t value;
  friend constexpr auto operator<=>(const Tick&, const Tick&) = default;
};

// The results of the functions of src/core, which never throw.
enum class Status : uint8_t {
  kOk,
  kIdOutOfRange,        // the ID has more bits than the layout
  kTimeOutOfRange,      // the layout cannot hold this time
  kShardOutOfRange,     // the layout cannot hold this shard
  kSequenceOutOfRange,  // the layout cannot hold this sequence
  kNegativeId,          // the layout, or this use, has no negative IDs
  kNoTime,              // the UUID contains no time
  kForeignUuid,         // the UUID contains no ID of the layout
  kMalformed,           // text of another form
  kNumberOutOfRange,    // text of the right form, with a number out of range
  kDigitsOutOfRange,    // not a number of digits to move
  kTooFewDigits,        // the ID has too few digits to move
  kResultOutOfRange,    // the result exceeds a bigint
};

}  // namespace snowid::core
