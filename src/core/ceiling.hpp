// How far the ceiling is raised, and when. Pure functions.
//
// It must be far enough above the IDs for no session to wait for the disk, and near enough for
// callers to wait for after a crash, when every time up to the ceiling counts as used. If IDs are
// frequent, one step above the ID is enough. If they are rare, the next one may come a second or
// two later, above such a ceiling: then it is raised further above the clock.
#pragma once

#include <algorithm>

#include "core/types.hpp"

namespace snowid::core {

// If IDs are rare, the ceiling is this fraction of steps above the clock, up to kFarthestUs or one
// step. With a step and a max_lead of 1 s, the first ID after a crash waits at most 1.4 s.
inline constexpr int64_t kSeldomNumerator = 12;
inline constexpr int64_t kSeldomDenominator = 5;
inline constexpr int64_t kFarthestUs = 5000000;

struct CeilingWish {
  UnixMicros target;  // the ceiling to raise to
  UnixMicros enough;  // a ceiling that needs no raise: half a step less
};

// Whether IDs are rare: the clock passed the alert by over a 64th of a step, without an ID.
constexpr bool is_seldom(UnixMicros now, UnixMicros alert, int64_t step_us) noexcept {
  return now.value - alert.value > step_us / 64;
}

// The wish for an ID at `moment` that passes the alert. step_us: at least 1.
constexpr CeilingWish wish_of(UnixMicros moment, UnixMicros now, bool seldom,
                              int64_t step_us) noexcept {
  int64_t target = moment.value + step_us;
  if (seldom) {
    const int64_t far = step_us * kSeldomNumerator / kSeldomDenominator;
    target = std::max(target, now.value + std::min(far, std::max(step_us, kFarthestUs)));
  }
  return {{target}, {target - step_us / 2}};
}

// How far servers' clocks may differ, in microseconds: Twitter's check.
inline constexpr int64_t kClocksDifferUs = 10000000;

// The part of a ceiling `set` from outside that counts. own: the value of snowid.
constexpr UnixMillis set_ceiling(UnixMillis set, UnixMillis own, UnixMillis most) noexcept {
  return std::max(own, std::min(set, most));
}

// The ceiling under its lock, after a durable write of an earlier session was published.
struct CeilingFound {
  bool is_replaced;    // the durable ceiling is in another sequence
  bool was_ahead;      // an earlier session wrote ahead
  UnixMicros written;  // the value in the sequence, at least the ceiling
  UnixMicros ceiling;  // the published value
};

enum class RaiseStep : uint8_t {
  kNothing,          // high enough, or just written ahead
  kWrite,            // ahead: the next commit flushes it, and the next raise publishes it
  kPublish,          // make durable what was written, and publish it
  kWriteAndPublish,  // both
  kNudge,            // have the WAL writer flush the write ahead: no session has committed
};

// The next step of that session, for an ID at `moment`.
constexpr RaiseStep step_of(UnixMicros moment, const CeilingWish& wish,
                            const CeilingFound& found) noexcept {
  const bool is_low = found.written < wish.enough;
  if (found.is_replaced) return RaiseStep::kWriteAndPublish;
  if (moment > found.ceiling) return is_low ? RaiseStep::kWriteAndPublish : RaiseStep::kPublish;
  if (found.written > found.ceiling)
    return found.was_ahead ? RaiseStep::kNudge : RaiseStep::kNothing;
  return is_low ? RaiseStep::kWrite : RaiseStep::kNothing;
}

// The alert after that step, at most the ceiling. next: the alert during the raise.
constexpr UnixMicros alert_of(UnixMicros moment, UnixMicros next, const CeilingWish& wish,
                              UnixMicros written, UnixMicros ceiling) noexcept {
  // A write ahead must be published before IDs reach the ceiling.
  if (written > ceiling) return std::min(next, ceiling);
  return {ceiling.value - (wish.enough.value - moment.value)};
}

}  // namespace snowid::core
