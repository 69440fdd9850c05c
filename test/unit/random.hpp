// A pseudo-random generator for property tests: seeded, so that every run tries the same cases, and
// the same with every standard library, as the distributions of <random> are not. A generator is
// one thread's own.
#pragma once

#include <algorithm>
#include <cstdint>

namespace snowid::core::test {

class Random {
 public:
  constexpr explicit Random(uint64_t seed) : state_(seed) {}

  // Any 64 bits: SplitMix64 (Steele, Lea and Flood, 2014).
  constexpr uint64_t Next() {
    uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  // 0 to bound - 1.
  constexpr uint64_t Below(uint64_t bound) { return Next() % bound; }

  // low to high, both included.
  constexpr int64_t In(int64_t low, int64_t high) {
    const uint64_t width = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const uint64_t offset = width == UINT64_MAX ? Next() : Below(width + 1);
    return static_cast<int64_t>(static_cast<uint64_t>(low) + offset);
  }

  // A number of any magnitude: small ones are as frequent as huge ones.
  constexpr uint64_t Sized() {
    const uint64_t magnitude = Below(64);
    return Next() >> magnitude;
  }

  // 0 to most, of any magnitude; the ends and their neighbours are frequent.
  constexpr uint64_t UpTo(uint64_t most) {
    switch (Below(8)) {
      case 0:
        return 0;
      case 1:
        return most;
      case 2:
        return most - std::min(most, Below(4));
      case 3:
        return std::min(most, Below(4));
      case 4:
        return std::min(most, Sized());
      default:
        return most == UINT64_MAX ? Next() : Below(most + 1);
    }
  }

 private:
  uint64_t state_;
};

}  // namespace snowid::core::test
