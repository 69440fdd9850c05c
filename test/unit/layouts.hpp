// What several unit tests share: layouts of many kinds, what they mean in plain arithmetic of 128
// bits, and random parts and moments of theirs. Pure functions but for the generator they draw
// from.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/layout.hpp"
#include "random.hpp"

namespace snowid::core::test {

// A specification of which a field is to be another one.
struct ChangedSpec {
  int64_t epoch_us;
  uint64_t unit_us, time_bits, shard_bits, seq_bits, order;

  explicit ChangedSpec(const LayoutSpec& spec)
      : epoch_us(spec.epoch_us),
        unit_us(spec.unit_us()),
        time_bits(spec.time_bits()),
        shard_bits(spec.shard_bits()),
        seq_bits(spec.seq_bits()),
        order(spec.order()) {}
  LayoutSpec Made() const { return {epoch_us, unit_us, time_bits, shard_bits, seq_bits, order}; }
};

__extension__ typedef __int128 Wide;

constexpr int64_t kDayUs = 86400000000;

inline constexpr Layout kTwitter = make_layout({1288834974657000, 1000, 41, 10, 12, 0});
inline constexpr Layout kDiscord = make_layout({1420070400000000, 1000, 41, 10, 12, 0});
inline constexpr Layout kTaobao = make_layout({1361753741828000, 1000, 49, 4, 10, 0});
inline constexpr Layout kBaidu = make_layout({1463673600000000, 1000000, 28, 22, 13, 0});
inline constexpr Layout kTenMillis = make_layout({1409529600000000, 10000, 39, 16, 8, 0});
inline constexpr Layout kFiftyThreeBits = make_layout({1700000000000000, 1000, 41, 2, 10, 0});
inline constexpr Layout kDays =
    make_layout({-2208988800000000, kDayUs, 26, 18, 20, 0});  // since 1900
inline constexpr Layout kMicros = make_layout({1600000000000000, 1, 52, 2, 10, 0});
inline constexpr Layout kNoShard = make_layout({0, 1000, 44, 0, 20, 0});
inline constexpr Layout kNoShard63 = make_layout({1700000000000123, 1000, 43, 0, 20, 0});
inline constexpr Layout kWidestShard = make_layout({1000000007, 1000000, 31, 32, 1, 0});
inline constexpr Layout kTimeAlone = make_layout({-5, 3, 61, 0, 1, 0});
inline constexpr Layout kOneTime = make_layout({77, kDayUs, 1, 31, 32, 0});
inline constexpr Layout kTiny = make_layout({-13, 7, 3, 2, 2, 0});
inline constexpr Layout kNoSequence = make_layout({0, 1, 53, 10, 0, 0});
inline constexpr Layout kTimeOnly = make_layout({0, 1000, 40, 0, 0, 0});

inline constexpr Layout kLayouts[] = {kInstagram,  kTwitter,        kDiscord,   kTaobao,  kBaidu,
                                      kTenMillis,  kFiftyThreeBits, kDays,      kMicros,  kNoShard,
                                      kNoShard63,  kWidestShard,    kTimeAlone, kOneTime, kTiny,
                                      kNoSequence, kTimeOnly};

// What a layout means, said in another way than the headers do.

// One of an ID's fields: how many bits the layout gives it, and how many of them are used.
struct ExactField {
  char letter;  // T, H or Q: of time, shard or sequence
  int bits;
  int used_bits;
};

// From the most significant down. All 64 bits are one more than a positive bigint has: the first
// field that has bits goes without one.
struct ExactFields {
  ExactField fields[3];

  explicit ExactFields(const LayoutSpec& spec) {
    static constexpr const char* kOrders[] = {"THQ", "TQH", "HTQ", "HQT", "QTH", "QHT"};
    int too_many =
        std::max(0, static_cast<int>(spec.time_bits() + spec.shard_bits() + spec.seq_bits()) - 63);
    for (int i = 0; i < 3; i++) {
      const char letter = kOrders[spec.order()][i];
      const int bits = static_cast<int>(letter == 'T'   ? spec.time_bits()
                                        : letter == 'H' ? spec.shard_bits()
                                                        : spec.seq_bits());
      fields[i] = {letter, bits, bits > 0 ? bits - too_many : 0};
      if (bits > 0) too_many = 0;
    }
  }

  // Which one the letter's is, from 0.
  int PlaceOf(char letter) const {
    return letter == fields[0].letter ? 0 : letter == fields[1].letter ? 1 : 2;
  }
  // The greatest value that the bits of the letter's field can tell.
  Wide MostOf(char letter) const { return (Wide{1} << fields[PlaceOf(letter)].used_bits) - 1; }
  // Whether the time is the first field that there is.
  bool TimeIsFirst() const {
    return PlaceOf('T') == 0 || (PlaceOf('T') == 1 && fields[0].bits == 0);
  }
};

// As many as the bits can tell, but none that ends later than a 64-bit number of microseconds,
// since 1970 or since the epoch, can tell.
inline int64_t ExactMaxTime(const Layout& layout) {
  const Wide longest = Wide{INT64_MAX} - std::max<int64_t>(layout.spec.epoch_us, 0);
  return static_cast<int64_t>(std::min(ExactFields(layout.spec).MostOf('T'),
                                       longest / static_cast<int64_t>(layout.spec.unit_us()) - 1));
}

inline uint64_t ExactMaxShard(const Layout& layout) {
  return static_cast<uint64_t>(ExactFields(layout.spec).MostOf('H'));
}

inline uint64_t ExactMaxSequence(const Layout& layout) {
  return static_cast<uint64_t>(ExactFields(layout.spec).MostOf('Q'));
}

inline Wide ExactStart(const Layout& layout, Wide time) {
  return time * layout.unit_us + layout.epoch.value;
}

// Rounds towards minus infinity; the divisor is positive.
inline Wide FloorOf(Wide dividend, Wide divisor) {
  Wide quotient = dividend / divisor;
  if (quotient * divisor > dividend) quotient--;
  return quotient;
}

inline Wide ExactTime(const Layout& layout, int64_t moment) {
  return FloorOf(Wide{moment} - layout.epoch.value, layout.unit_us);
}

// Field by field, each below the one before.
inline Wide ExactId(const Layout& layout, Wide time, uint64_t shard, uint64_t sequence) {
  Wide id = 0;
  for (const ExactField& field : ExactFields(layout.spec).fields)
    id = id * (Wide{1} << field.bits) + (field.letter == 'T'   ? time
                                         : field.letter == 'H' ? Wide{shard}
                                                               : Wide{sequence});
  return id;
}

// Any valid specification: each order; 64 bits in all as often as fewer; units and epochs that are
// round, odd, or at the ends of their ranges.
inline LayoutSpec RandomSpec(Random* random) {
  const uint64_t total = random->Below(2) == 0 ? 64 : 1 + random->UpTo(63);
  // Time has 1 to 63 bits, the others 0 to 63.
  const uint64_t time = std::min<uint64_t>(1 + random->UpTo(total - 1), 63);
  uint64_t shard = random->UpTo(total - time);
  uint64_t seq = random->Below(8) == 0 ? 0 : total - time - shard;
  if (random->Below(2) == 0) std::swap(shard, seq);

  constexpr uint64_t kRoundUnits[] = {1, 1000, 10000, 1000000, 60000000, 3600000000, kDayUs};
  const uint64_t unit_us =
      random->Below(2) == 0 ? kRoundUnits[random->Below(7)] : 1 + random->UpTo(kDayUs - 1);

  constexpr int64_t kRoundEpochs[] = {1, 1000, 1000000, kDayUs};
  const uint64_t epochs = static_cast<uint64_t>(kLastEpoch.value - kFirstEpoch.value);
  int64_t epoch_us = kFirstEpoch.value + static_cast<int64_t>(random->UpTo(epochs));
  if (random->Below(8) == 0) epoch_us = random->In(-2, 2);
  epoch_us -= epoch_us % kRoundEpochs[random->Below(4)];

  return canonical({epoch_us, unit_us, time, shard, seq, random->Below(6)});
}

inline Parts RandomParts(const Layout& layout, Random* random) {
  return {{static_cast<int64_t>(random->UpTo(static_cast<uint64_t>(ExactMaxTime(layout))))},
          {random->UpTo(ExactMaxShard(layout))},
          {random->UpTo(ExactMaxSequence(layout))}};
}

// Any moment; those near the epoch, near the end and near where a unit begins are frequent. None is
// so early that its time, in units of 1 us, would be no 64-bit number.
inline int64_t RandomMoment(const Layout& layout, Random* random) {
  Wide moment = 0;
  switch (random->Below(6)) {
    case 0:
      moment = random->In(INT64_MIN, INT64_MAX);
      break;
    case 1:
      moment = random->Below(2) == 0 ? INT64_MIN : INT64_MAX;
      break;
    case 2:
      moment = Wide{layout.epoch.value} + static_cast<int64_t>(random->Sized() >> 1);
      break;
    case 3:
      moment = Wide{layout.epoch.value} - static_cast<int64_t>(random->Sized() >> 1);
      break;
    case 4:
      moment = ExactStart(layout, Wide{ExactMaxTime(layout)} + random->In(-1, 3));
      break;
    default:
      moment = ExactStart(layout, RandomParts(layout, random).time.value);
  }
  moment += random->In(-2, 2);
  if (layout.unit_us == 1) moment = std::max(moment, Wide{layout.epoch.value} + INT64_MIN);
  return static_cast<int64_t>(std::clamp<Wide>(moment, INT64_MIN, INT64_MAX));
}

// What a range of time is to an index.
struct KeyRange {
  int64_t first;
  int64_t last;
};
inline KeyRange KeysBetween(const Layout& layout, int64_t from, int64_t until) {
  return {first_key_from(layout, {from}), last_key_before(layout, {until})};
}
inline bool IsNone(const KeyRange& range) { return range.first > range.last; }
inline bool IsBetween(const Layout& layout, Id id, int64_t from, int64_t until) {
  const KeyRange range = KeysBetween(layout, from, until);
  const int64_t key = time_key(layout, id);
  return range.first <= key && key <= range.last;
}

}  // namespace snowid::core::test
