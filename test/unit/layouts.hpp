// What several unit tests share: layouts of many kinds, what they mean in plain arithmetic of 128
// bits, and random parts and moments of theirs. Pure functions but for the generator they draw
// from.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.hpp"
#include "random.hpp"

namespace snowid::core::test {

__extension__ typedef __int128 Wide;

constexpr int64_t kDayUs = 86400000000;

inline constexpr Layout kTwitter = MakeLayout({1288834974657000, 1000, 41, 10, 12, 0});
inline constexpr Layout kDiscord = MakeLayout({1420070400000000, 1000, 41, 10, 12, 0});
inline constexpr Layout kTaobao = MakeLayout({1361753741828000, 1000, 49, 4, 10, 0});
inline constexpr Layout kBaidu = MakeLayout({1463673600000000, 1000000, 28, 22, 13, 0});
inline constexpr Layout kTenMillis = MakeLayout({1409529600000000, 10000, 39, 16, 8, 0});
inline constexpr Layout kFiftyThreeBits = MakeLayout({1700000000000000, 1000, 41, 2, 10, 0});
inline constexpr Layout kDays =
    MakeLayout({-2208988800000000, kDayUs, 26, 18, 20, 0});  // since 1900
inline constexpr Layout kMicros = MakeLayout({1600000000000000, 1, 52, 2, 10, 0});
inline constexpr Layout kNoShard = MakeLayout({0, 1000, 44, 0, 20, 0});
inline constexpr Layout kNoShard63 = MakeLayout({1700000000000123, 1000, 43, 0, 20, 0});
inline constexpr Layout kWidestShard = MakeLayout({1000000007, 1000000, 31, 32, 1, 0});
inline constexpr Layout kTimeAlone = MakeLayout({-5, 3, 61, 0, 1, 0});
inline constexpr Layout kOneTime = MakeLayout({77, kDayUs, 1, 31, 32, 0});
inline constexpr Layout kTiny = MakeLayout({-13, 7, 3, 2, 2, 0});

inline constexpr Layout kLayouts[] = {kInstagram, kTwitter,        kDiscord,   kTaobao,  kBaidu,
                                      kTenMillis, kFiftyThreeBits, kDays,      kMicros,  kNoShard,
                                      kNoShard63, kWidestShard,    kTimeAlone, kOneTime, kTiny};

// What the layout means, said in another way than the headers do.

inline int64_t ExactMaxTime(const Layout& layout) {
  const uint64_t positive_bits =
      std::min<uint64_t>(63, layout.spec.time_bits + layout.spec.shard_bits + layout.spec.seq_bits);
  Wide times = 1;
  for (uint64_t bit = layout.spec.shard_bits + layout.spec.seq_bits; bit < positive_bits; bit++)
    times *= 2;
  return static_cast<int64_t>(times - 1);
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

inline Wide ExactId(const Layout& layout, Wide time, uint64_t shard, uint64_t sequence) {
  const Wide shards = Wide{1} << layout.spec.shard_bits;
  const Wide sequences = Wide{1} << layout.spec.seq_bits;
  return (time * shards + shard) * sequences + sequence;
}

inline Parts RandomParts(const Layout& layout, Random* random) {
  const uint64_t max_shard = (uint64_t{1} << layout.spec.shard_bits) - 1;
  const uint64_t max_sequence = (uint64_t{1} << layout.spec.seq_bits) - 1;
  return {{static_cast<int64_t>(random->UpTo(static_cast<uint64_t>(ExactMaxTime(layout))))},
          {static_cast<uint32_t>(random->UpTo(max_shard))},
          {random->UpTo(max_sequence)}};
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

}  // namespace snowid::core::test
