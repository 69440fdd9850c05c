// How far the ceiling is raised, and when. Plain arithmetic; nothing here is shared.
//
// It must be so far above the IDs that no session waits for the disk. It must not be further than
// callers can wait for after a crash, since every time up to the ceiling then counts as used. If
// IDs are frequent, one step above the ID is enough. If they are rare, the next one may come a
// second or two later, when its time is above such a ceiling. Then the ceiling is raised further
// above the clock.
#pragma once

#include <algorithm>

#include "core/types.hpp"

namespace snowid::core {

// If IDs are rare, the ceiling is this many steps above the clock, as a fraction; at most
// kFarthestUs, or a step if that is more. With a step of one second, and a lead of one second
// allowed, the first ID after a crash then has to wait for 1.4 seconds at most.
inline constexpr int64_t kSeldomNumerator = 12;
inline constexpr int64_t kSeldomDenominator = 5;
inline constexpr int64_t kFarthestUs = 5000000;

// How far an ID needs the ceiling to be raised.
struct CeilingWish {
  UnixMicros target;  // the ceiling to raise to
  UnixMicros enough;  // if it is this high it need not be raised: half a step less
};

// Whether IDs come seldom: the clock, at `now`, is past the alert by more than a 64th of a step, so
// no ID was issued meanwhile.
constexpr bool is_seldom(UnixMicros now, UnixMicros alert, int64_t step_us) noexcept {
  return now.value - alert.value > step_us / 64;
}

// The wish of an ID with the time `moment` that passes the alert. step_us: at least 1.
constexpr CeilingWish wish_of(UnixMicros moment, UnixMicros now, bool seldom,
                              int64_t step_us) noexcept {
  int64_t target = moment.value + step_us;
  if (seldom) {
    const int64_t far = step_us * kSeldomNumerator / kSeldomDenominator;
    target = std::max(target, now.value + std::min(far, std::max(step_us, kFarthestUs)));
  }
  return {{target}, {target - step_us / 2}};
}

// How far servers' clocks may differ, in microseconds: that is Twitter's check.
inline constexpr int64_t kClocksDifferUs = 10000000;

// The part that counts of a ceiling set from outside, if snowid has kept `own`. most: the most that
// counts of a value from another server.
constexpr UnixMillis set_ceiling(UnixMillis set, UnixMillis own, UnixMillis most) noexcept {
  return std::max(own, std::min(set, most));
}

// The ceiling as a session finds it that may have to raise it, and holds its lock. If a write ahead
// is durable by now, it was published before.
struct CeilingFound {
  bool is_replaced;    // the durable ceiling is in another sequence
  bool was_ahead;      // an earlier session has written ahead
  UnixMicros written;  // the value in the sequence: the ceiling or more
  UnixMicros ceiling;  // the published value
};

// The next step of that session.
enum class RaiseStep : uint8_t {
  kNothing,  // it is high enough, or has just been written ahead
  kWrite,  // ahead: the next commit flushes it, and the next session to raise the ceiling publishes
           // it
  kPublish,          // wait until what was written is durable, and publish it
  kWriteAndPublish,  // both
  kNudge,            // have the WAL writer flush the write ahead: no session has committed
};

// The step for an ID with the time `moment`.
constexpr RaiseStep step_of(UnixMicros moment, const CeilingWish& wish,
                            const CeilingFound& found) noexcept {
  const bool is_low = found.written < wish.enough;
  if (found.is_replaced) return RaiseStep::kWriteAndPublish;
  if (moment > found.ceiling) return is_low ? RaiseStep::kWriteAndPublish : RaiseStep::kPublish;
  if (found.written > found.ceiling)
    return found.was_ahead ? RaiseStep::kNudge : RaiseStep::kNothing;
  return is_low ? RaiseStep::kWrite : RaiseStep::kNothing;
}

// The alert after that step, at or below the ceiling. next: the alert while the ceiling is being
// raised.
constexpr UnixMicros alert_of(UnixMicros moment, UnixMicros next, const CeilingWish& wish,
                              UnixMicros written, UnixMicros ceiling) noexcept {
  // A write ahead must be published before the ceiling is reached.
  if (written > ceiling) return std::min(next, ceiling);
  return {ceiling.value - (wish.enough.value - moment.value)};
}

}  // namespace snowid::core
