// Layouts: how time, shard, and sequence share the 64 bits of an ID. Pure functions.
//
// No ID is negative. If the fields take all 64 bits, the most significant field loses its top bit,
// the sign of a bigint: IDs stay positive and keep their order.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

#include "core/types.hpp"

namespace snowid::core {

inline constexpr uint64_t kLongestUnitUs = 86'400'000'000;  // a day

// The epochs expressible as text: years 1 to 9999.
inline constexpr UnixMicros kFirstEpoch{-62'135'596'800'000'000};
inline constexpr UnixMicros kLastEpoch{253'402'300'799'999'999};

enum Field : uint8_t { kTimeField, kShardField, kSeqField };

// The orders of the fields, most significant first. Databases store the numbers.
enum Order : uint8_t {
  kTimeShardSeq = 0,
  kTimeSeqShard = 1,
  kShardTimeSeq = 2,
  kShardSeqTime = 3,
  kSeqTimeShard = 4,
  kSeqShardTime = 5,
};
inline constexpr Field kFieldsInOrder[][3] = {
    {kTimeField, kShardField, kSeqField}, {kTimeField, kSeqField, kShardField},
    {kShardField, kTimeField, kSeqField}, {kShardField, kSeqField, kTimeField},
    {kSeqField, kTimeField, kShardField}, {kSeqField, kShardField, kTimeField},
};

// A layout as databases store it, and in a slot's key. 16 bytes without padding, compared as bytes.
struct LayoutSpec {
  int64_t epoch_us;  // Unix microseconds of time 0
  uint64_t fields;   // the other values, in the bits below

  LayoutSpec() = default;
  // unit: microseconds, 1 to kLongestUnitUs. time, shard, seq: numbers of bits, up to 63, at least
  // 1 for the time, at most 64 together. order: an Order. Each has spare bits.
  constexpr LayoutSpec(int64_t epoch, uint64_t unit, uint64_t time, uint64_t shard, uint64_t seq,
                       uint64_t order) noexcept
      : epoch_us(epoch), fields(unit | time << 40 | shard << 47 | seq << 54 | order << 61) {}

  constexpr uint64_t unit_us() const noexcept { return fields & ((uint64_t{1} << 40) - 1); }
  constexpr uint64_t time_bits() const noexcept { return fields >> 40 & 127; }
  constexpr uint64_t shard_bits() const noexcept { return fields >> 47 & 127; }
  constexpr uint64_t seq_bits() const noexcept { return fields >> 54 & 127; }
  constexpr uint64_t order() const noexcept { return fields >> 61; }
  constexpr LayoutSpec with_order(uint64_t order) const noexcept {
    return {epoch_us, unit_us(), time_bits(), shard_bits(), seq_bits(), order};
  }

  friend constexpr auto operator<=>(const LayoutSpec&, const LayoutSpec&) = default;
};
static_assert(sizeof(LayoutSpec) == 16);

constexpr bool is_valid(const LayoutSpec& spec) noexcept {
  return spec.epoch_us >= kFirstEpoch.value && spec.epoch_us <= kLastEpoch.value &&
         spec.unit_us() >= 1 && spec.unit_us() <= kLongestUnitUs && spec.time_bits() >= 1 &&
         spec.time_bits() <= 63 && spec.time_bits() + spec.shard_bits() + spec.seq_bits() <= 64 &&
         spec.order() <= kSeqShardTime;
}

// The canonical form of a layout: if shard or sequence has no bits, its place is chosen.
constexpr LayoutSpec canonical(LayoutSpec spec) noexcept {
  const bool time_is_above_seq = spec.order() <= kShardTimeSeq;
  const bool time_is_above_shard = spec.order() <= kTimeSeqShard || spec.order() == kSeqTimeShard;
  if (spec.seq_bits() == 0)
    return spec.with_order(time_is_above_shard || spec.shard_bits() == 0 ? kTimeShardSeq
                                                                         : kShardTimeSeq);
  if (spec.shard_bits() == 0)
    return spec.with_order(time_is_above_seq ? kTimeShardSeq : kSeqShardTime);
  return spec;
}

struct Layout {
  LayoutSpec spec;
  UnixMicros epoch;
  int64_t unit_us;

  uint8_t time_shift;
  uint8_t shard_shift;
  uint8_t seq_shift;
  // The bits of the sequence in use. If it is the first of 64-bit IDs, the sign bit is not.
  uint8_t seq_bits;

  bool time_is_first;  // later IDs are greater, whatever their shards
  // Whether the sequence continues from one unit to the next, as Instagram's `nextval % 1024` does,
  // which spreads the low bits of IDs evenly. Not in units too long for a caller to wait for.
  bool sequence_goes_on;

  Shard max_shard;
  Sequence max_sequence;
  Id max_id;
  Time max_time;          // the last time with positive IDs and in the range of UnixMicros
  UnixMicros last_start;  // its begin
  UnixMicros end;         // its end, when the layout is exhausted

  // A number below 2^63 is divided by unit_us by multiplying and shifting right. Source: Granlund
  // and Montgomery, "Division by Invariant Integers using Multiplication" (1994).
  uint64_t unit_reciprocal;
  uint8_t unit_shift;

  friend constexpr bool operator==(const Layout& a, const Layout& b) { return a.spec == b.spec; }
};

__extension__ typedef unsigned __int128 Uint128;

// The layout of a valid specification.
constexpr Layout make_layout(LayoutSpec spec) noexcept {
  Layout layout{};
  layout.spec = spec = canonical(spec);
  layout.epoch = {spec.epoch_us};
  layout.unit_us = static_cast<int64_t>(spec.unit_us());
  layout.sequence_goes_on = spec.unit_us() <= 1'000'000;

  const Field* fields = kFieldsInOrder[spec.order()];
  uint8_t bits[] = {static_cast<uint8_t>(spec.time_bits()), static_cast<uint8_t>(spec.shard_bits()),
                    static_cast<uint8_t>(spec.seq_bits())};
  uint8_t shifts[3] = {};
  int id_bits = 0;
  for (int place = 2; place >= 0; place--) {
    shifts[fields[place]] = static_cast<uint8_t>(id_bits);
    id_bits += bits[fields[place]];
  }
  layout.time_shift = shifts[kTimeField];
  layout.shard_shift = shifts[kShardField];
  layout.seq_shift = shifts[kSeqField];
  layout.time_is_first = fields[0] == kTimeField;
  if (id_bits == 64) {
    id_bits--;
    bits[fields[0]]--;
  }

  layout.seq_bits = bits[kSeqField];
  layout.max_shard = {(uint64_t{1} << bits[kShardField]) - 1};
  layout.max_sequence = {(uint64_t{1} << bits[kSeqField]) - 1};
  layout.max_id = {static_cast<int64_t>((uint64_t{1} << id_bits) - 1)};

  // Neither the end nor its distance from the epoch may exceed an int64_t.
  const int64_t longest_us = INT64_MAX - std::max(spec.epoch_us, int64_t{0});
  const int64_t most_units = longest_us / layout.unit_us;
  const int64_t units = static_cast<int64_t>(
      std::min(uint64_t{1} << bits[kTimeField], static_cast<uint64_t>(most_units)));
  layout.max_time = {units - 1};
  layout.last_start = {spec.epoch_us + (units - 1) * layout.unit_us};
  layout.end = {layout.last_start.value + layout.unit_us};

  uint8_t log = 0;
  while ((uint64_t{1} << log) < spec.unit_us()) log++;
  layout.unit_shift = static_cast<uint8_t>(63 + log);
  const Uint128 power = Uint128{1} << layout.unit_shift;
  layout.unit_reciprocal = static_cast<uint64_t>((power + spec.unit_us() - 1) / spec.unit_us());
  return layout;
}

// Instagram's layout: 41 bits of milliseconds since 2011-08-24 21:07:01.721 UTC, 13 of shard, 10 of
// sequence. Positive until 2046-06-27 17:00:49.497 UTC.
inline constexpr Layout kInstagram =
    make_layout({1314220021721000, 1000, 41, 13, 10, kTimeShardSeq});

struct Parts {
  Time time;
  Shard shard;
  Sequence sequence;
};

// The begin of a time unit, 0 to max_time + 1.
constexpr UnixMicros start_of(const Layout& layout, Time time) noexcept {
  return {layout.epoch.value + time.value * layout.unit_us};
}

// The time unit that holds `moment`; max_time + 1 from the end on, so the result can be shifted
// without overflow. Negative before the epoch.
constexpr Time time_at(const Layout& layout, UnixMicros moment) noexcept {
  if (moment >= layout.end) [[unlikely]]
    return {layout.max_time.value + 1};
  if (moment < layout.epoch) [[unlikely]] {
    // Division truncates toward zero. The difference of two moments can exceed an int64_t.
    const uint64_t before =
        static_cast<uint64_t>(layout.epoch.value) - static_cast<uint64_t>(moment.value);
    const uint64_t units = (before - 1) / static_cast<uint64_t>(layout.unit_us);
    return {units < INT64_MAX ? -static_cast<int64_t>(units) - 1 : INT64_MIN};
  }
  const uint64_t after =
      static_cast<uint64_t>(moment.value) - static_cast<uint64_t>(layout.epoch.value);
  return {static_cast<int64_t>(Uint128{after} * layout.unit_reciprocal >> layout.unit_shift)};
}

// Requires: each part is in the layout's range.
constexpr Id compose(const Layout& layout, Parts parts) noexcept {
  const uint64_t bits = (static_cast<uint64_t>(parts.time.value) << layout.time_shift) |
                        (parts.shard.value << layout.shard_shift) |
                        (parts.sequence.value << layout.seq_shift);
  return {static_cast<int64_t>(bits)};
}

// Fails with kNegativeId, kIdOutOfRange, or kTimeOutOfRange (the time exceeds UnixMicros).
constexpr Status decompose(const Layout& layout, Id id, Parts* parts) noexcept {
  if (id.value < 0) return Status::kNegativeId;
  if (id > layout.max_id) return Status::kIdOutOfRange;
  const uint64_t bits = static_cast<uint64_t>(id.value);
  const auto field = [bits](uint8_t shift, uint64_t width) {
    return bits >> shift & ((uint64_t{1} << width) - 1);
  };
  parts->time = {static_cast<int64_t>(field(layout.time_shift, layout.spec.time_bits()))};
  parts->shard = {field(layout.shard_shift, layout.spec.shard_bits())};
  parts->sequence = {field(layout.seq_shift, layout.spec.seq_bits())};
  return parts->time > layout.max_time ? Status::kTimeOutOfRange : Status::kOk;
}

// Fails with kTimeOutOfRange, kShardOutOfRange, or kSequenceOutOfRange.
constexpr Status encode(const Layout& layout, UnixMicros moment, int64_t shard, int64_t sequence,
                        Id* id) noexcept {
  const Time time = time_at(layout, moment);
  if (time.value < 0 || time > layout.max_time) return Status::kTimeOutOfRange;
  if (shard < 0 || static_cast<uint64_t>(shard) > layout.max_shard.value)
    return Status::kShardOutOfRange;
  if (sequence < 0 || static_cast<uint64_t>(sequence) > layout.max_sequence.value)
    return Status::kSequenceOutOfRange;
  *id = compose(layout, {time, {static_cast<uint64_t>(shard)}, {static_cast<uint64_t>(sequence)}});
  return Status::kOk;
}

// The least and the greatest ID of a time unit, 0 to max_time, over all shards and sequences.
constexpr Id least_id_of(const Layout& layout, Time time) noexcept {
  return compose(layout, {time, {0}, {0}});
}
constexpr Id greatest_id_of(const Layout& layout, Time time) noexcept {
  return compose(layout, {time, layout.max_shard, layout.max_sequence});
}

// The first time unit that begins at or after `moment`; max_time + 1 if there is none.
constexpr Time first_unit_from(const Layout& layout, UnixMicros moment) noexcept {
  if (moment <= layout.epoch) return {0};
  const Time time = time_at(layout, moment);
  if (time > layout.max_time) return time;
  return {time.value + (start_of(layout, time) < moment ? 1 : 0)};
}

// An ID's place in the order of time: the ID itself if time_is_first, so an index can be used; else
// its time unit, or -1 if the layout has no such ID.
constexpr int64_t time_key(const Layout& layout, Id id) noexcept {
  if (layout.time_is_first) return id.value;
  Parts parts{};
  return decompose(layout, id, &parts) == Status::kOk ? parts.time.value : -1;
}

// The least such key of IDs with units from `moment` on, INT64_MAX if there is none; the greatest
// of those with earlier units, -1 if there is none. The IDs in between are those of a range of
// time. (The ID INT64_MAX is in every range after the layout's last unit.)
constexpr int64_t first_key_from(const Layout& layout, UnixMicros moment) noexcept {
  const Time unit = first_unit_from(layout, moment);
  if (unit > layout.max_time) return INT64_MAX;
  return layout.time_is_first ? least_id_of(layout, unit).value : unit.value;
}
constexpr int64_t last_key_before(const Layout& layout, UnixMicros moment) noexcept {
  const Time unit{first_unit_from(layout, moment).value - 1};
  if (unit.value < 0) return -1;
  return layout.time_is_first ? greatest_id_of(layout, unit).value : unit.value;
}

}  // namespace snowid::core
