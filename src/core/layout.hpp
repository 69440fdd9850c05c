// How time, shard and sequence share the 64 bits of an ID: making IDs from their parts and taking
// them apart. Pure functions of their arguments; nothing here is shared.
//
// A layout has the time in its most significant bits, then the shard, then the sequence. Where the
// three take all 64 bits, the top bit of the time is the sign of a bigint: times that would set it
// are beyond MaxTime(), so IDs stay positive and keep their order.
#pragma once

#include <cstdint>

#include "core/types.hpp"

namespace snowid::core {

// A value of 16 bytes without padding, so that it can be part of a key that is compared as bytes.
struct Layout {
  int64_t epoch_us;       // Unix microseconds at time 0
  uint64_t unit_us : 40;  // microseconds in one unit of time: 1 to 86,400,000,000 (a day)
  uint64_t time_bits : 8;
  uint64_t shard_bits : 8;
  uint64_t seq_bits : 8;

  constexpr int ShardShift() const { return static_cast<int>(seq_bits); }
  constexpr int TimeShift() const { return static_cast<int>(seq_bits + shard_bits); }

  constexpr Sequence MaxSequence() const { return {(uint64_t{1} << seq_bits) - 1}; }
  constexpr Shard MaxShard() const {
    return {static_cast<uint32_t>((uint64_t{1} << shard_bits) - 1)};
  }
  // The last time whose IDs are positive.
  constexpr Time MaxTime() const {
    const bool has_sign = time_bits + shard_bits + seq_bits == 64;
    return {static_cast<int64_t>((uint64_t{1} << (time_bits - (has_sign ? 1 : 0))) - 1)};
  }

  friend constexpr bool operator==(const Layout& a, const Layout& b) {
    return a.epoch_us == b.epoch_us && a.unit_us == b.unit_us && a.time_bits == b.time_bits &&
           a.shard_bits == b.shard_bits && a.seq_bits == b.seq_bits;
  }
};
static_assert(sizeof(Layout) == 16);

// Instagram's: 41 bits of milliseconds since 2011-08-24 21:07:01.721 UTC, 13 of shard, 10 of
// sequence. Positive until 2046-06-27 17:00:49.497 UTC.
inline constexpr Layout kInstagram{1314220021721000, 1000, 41, 13, 10};

// An ID's parts.
struct Parts {
  Time time;
  Shard shard;
  Sequence sequence;
};

// When a time unit begins. Range: any time from 0 to MaxTime() + 1 of a layout in use.
constexpr UnixMicros StartOf(const Layout& layout, Time time) {
  return {layout.epoch_us + time.value * static_cast<int64_t>(layout.unit_us)};
}

// When the layout's time is used up: the end of its last unit.
constexpr UnixMicros EndOf(const Layout& layout) {
  return StartOf(layout, {layout.MaxTime().value + 1});
}

// The time unit that holds `moment`; every moment after MaxTime() gives MaxTime() + 1, so that the
// result can be shifted without overflow. Negative for moments before the epoch.
constexpr Time TimeAt(const Layout& layout, UnixMicros moment) {
  const int64_t unit = static_cast<int64_t>(layout.unit_us);
  const Time beyond{layout.MaxTime().value + 1};
  if (moment >= EndOf(layout)) return beyond;
  if (moment.value < layout.epoch_us) {
    // Division truncates towards zero, and a unit that began before the epoch is negative. The
    // difference of two moments need not be an int64_t.
    const uint64_t before =
        static_cast<uint64_t>(layout.epoch_us) - static_cast<uint64_t>(moment.value);
    const uint64_t units = (before - 1) / static_cast<uint64_t>(unit);
    return {units < INT64_MAX ? -static_cast<int64_t>(units) - 1 : INT64_MIN};
  }
  return {(moment.value - layout.epoch_us) / unit};
}

// The ID with these parts, each of which must be in the layout's range.
constexpr Id Compose(const Layout& layout, Parts parts) {
  const uint64_t bits = (static_cast<uint64_t>(parts.time.value) << layout.TimeShift()) |
                        (static_cast<uint64_t>(parts.shard.value) << layout.ShardShift()) |
                        parts.sequence.value;
  return {static_cast<int64_t>(bits)};
}

// The parts of an ID. Fails with kNegativeId.
constexpr Status Decompose(const Layout& layout, Id id, Parts* parts) {
  if (id.value < 0) return Status::kNegativeId;
  const uint64_t bits = static_cast<uint64_t>(id.value);
  parts->time = {static_cast<int64_t>(bits >> layout.TimeShift())};
  parts->shard = {static_cast<uint32_t>(bits >> layout.ShardShift()) & layout.MaxShard().value};
  parts->sequence = {bits & layout.MaxSequence().value};
  if (parts->time > layout.MaxTime()) return Status::kTimeOutOfRange;
  return Status::kOk;
}

// The ID made at `moment` with this shard and sequence. Fails with kTimeOutOfRange,
// kShardOutOfRange or kSequenceOutOfRange.
constexpr Status Encode(const Layout& layout, UnixMicros moment, int64_t shard, int64_t sequence,
                        Id* id) {
  const Time time = TimeAt(layout, moment);
  if (time.value < 0 || time > layout.MaxTime()) return Status::kTimeOutOfRange;
  if (shard < 0 || shard > int64_t{layout.MaxShard().value}) return Status::kShardOutOfRange;
  if (sequence < 0 || static_cast<uint64_t>(sequence) > layout.MaxSequence().value)
    return Status::kSequenceOutOfRange;
  *id = Compose(layout, {time, {static_cast<uint32_t>(shard)}, {static_cast<uint64_t>(sequence)}});
  return Status::kOk;
}

// The least and the greatest ID of a time unit, over all shards and sequences.
// Range: 0 to MaxTime().
constexpr Id LeastOf(const Layout& layout, Time time) { return Compose(layout, {time, {0}, {0}}); }
constexpr Id GreatestOf(const Layout& layout, Time time) {
  return Compose(layout, {time, layout.MaxShard(), layout.MaxSequence()});
}

// The IDs from `first` to `last`; none where first > last.
struct IdRange {
  Id first;
  Id last;
};

// The IDs whose time unit begins in [from, until). Never fails: what lies outside the layout's
// times holds no ID. Where there is none, `first` is the greatest bigint and `last` the least.
constexpr IdRange Between(const Layout& layout, UnixMicros from, UnixMicros until) {
  constexpr IdRange kNone{{INT64_MAX}, {INT64_MIN}};
  // The first unit that begins at or after a moment.
  const auto first_unit = [&layout](UnixMicros moment) -> Time {
    if (moment.value <= layout.epoch_us) return {0};
    const Time time = TimeAt(layout, moment);
    if (time > layout.MaxTime()) return time;
    return {time.value + (StartOf(layout, time) < moment ? 1 : 0)};
  };
  const Time first = first_unit(from);
  const Time end = first_unit(until);
  if (first >= end) return kNone;
  return {LeastOf(layout, first), GreatestOf(layout, {end.value - 1})};
}

}  // namespace snowid::core
