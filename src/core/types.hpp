// The quantities that snowid computes with, each a distinct type: a shard cannot be passed as a
// sequence, nor milliseconds as microseconds. Plain values; nothing here is shared.
#pragma once

#include <compare>
#include <cstdint>

namespace snowid::core {

// A point in time, in microseconds since 1970-01-01 00:00:00 UTC: what a clock is read in.
struct UnixMicros {
  int64_t value;
  friend constexpr auto operator<=>(const UnixMicros&, const UnixMicros&) = default;
};

// A point in time, in milliseconds since 1970-01-01 00:00:00 UTC: the unit of the ceiling.
struct UnixMillis {
  int64_t value;
  friend constexpr auto operator<=>(const UnixMillis&, const UnixMillis&) = default;
};

constexpr UnixMicros micros_of(UnixMillis moment) noexcept { return {moment.value * 1000}; }
constexpr UnixMillis round_up(UnixMicros moment) noexcept { return {(moment.value + 999) / 1000}; }

// A point in time in a layout's own terms: whole units since the layout's epoch. Negative before
// it.
struct Time {
  int64_t value;
  friend constexpr auto operator<=>(const Time&, const Time&) = default;
};

// The number of one allocator of IDs. Range: 0 to Layout::max_shard.
struct Shard {
  uint64_t value;
  friend constexpr auto operator<=>(const Shard&, const Shard&) = default;
};

// Tells the IDs of one shard and one time unit apart. Range: 0 to Layout::max_sequence.
struct Sequence {
  uint64_t value;
  friend constexpr auto operator<=>(const Sequence&, const Sequence&) = default;
};

// An ID as PostgreSQL stores it. Never negative if snowid generated it.
struct Id {
  int64_t value;
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

// A shard's place in time: Time and Sequence in one word, `time << seq_bits | sequence`. One
// compare-and-swap moves both, and a greater tick is a later ID.
struct Tick {
  uint64_t value;
  friend constexpr auto operator<=>(const Tick&, const Tick&) = default;
};

// The results of the functions of src/core, which never throw and never report.
enum class Status : uint8_t {
  kOk,
  kIdOutOfRange,        // the layout has fewer bits than this ID
  kTimeOutOfRange,      // the layout cannot hold this time
  kShardOutOfRange,     // the layout cannot hold this shard
  kSequenceOutOfRange,  // the layout cannot hold this sequence
  kNegativeId,          // a negative ID, of a layout or for a use that has none
  kNoTime,              // a UUID that has no time in it
  kForeignUuid,         // a UUID that holds no ID of the layout
  kStepOutOfRange,      // no step of a series
  kMalformed,           // text that is not of the form expected
  kNumberOutOfRange,    // text of the right form, with a number that cannot be
  kDigitsOutOfRange,    // so many digits cannot be moved at once
  kTooFewDigits,        // the ID has not one digit more than are to be moved
  kResultOutOfRange,    // no bigint holds the result
};

}  // namespace snowid::core
