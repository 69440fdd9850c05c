// How far ahead of the IDs the ceiling is raised. Plain arithmetic; nothing here is shared.
//
// Far enough that nobody waits for the disk, and no further than callers can wait for after a
// crash, since every time up to the ceiling then counts as used. Where IDs come often a step is
// enough. Where they come seldom the next one may be a second away or two, and would find the
// ceiling below it. So there the ceiling is raised further above the clock.
#pragma once

#include <algorithm>

#include "core/types.hpp"

namespace snowid::core {

// Where IDs come seldom the ceiling is this many steps above the clock, as a fraction; but no more
// than kFarthestUs, or a step where that is more. With a step of one second, and a lead of one
// second allowed, the first ID after a crash then has to wait for 1.4 seconds at most.
inline constexpr int64_t kSeldomNumerator = 12;
inline constexpr int64_t kSeldomDenominator = 5;
inline constexpr int64_t kFarthestUs = 5000000;

// Says what an ID asks of the ceiling.
struct CeilingWish {
  UnixMicros target;  // what the ceiling is to be raised to
  UnixMicros enough;  // where it is this high it need not be raised: half a step less
};

// The wish of an ID with the time `moment` that passes the alert, which is where somebody was to
// look after the ceiling. If the clock, at `now`, has left the alert behind by more than an
// instant, nobody has asked for an ID meanwhile: they come seldom. step_us: at least 1.
constexpr CeilingWish WishOf(UnixMicros moment, UnixMicros now, UnixMicros alert, int64_t step_us) {
  int64_t target = moment.value + step_us;
  if (now.value - alert.value > step_us / 64) {
    const int64_t far = step_us * kSeldomNumerator / kSeldomDenominator;
    target = std::max(target, now.value + std::min(far, std::max(step_us, kFarthestUs)));
  }
  return {{target}, {target - step_us / 2}};
}

}  // namespace snowid::core
