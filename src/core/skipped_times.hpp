// Skipped times: ranges of time, ahead of the clock, used by IDs of a fast clock. A superuser
// states them (snowid.return_to_clock). Pure functions.
//
// No ID may get such a time again. A little before the clock reaches a range, all ticks of the
// database are therefore lifted to its end. The floor records the lift: it is then at the end of
// the range or above. Until the clock has passed the end, IDs may be ahead of the clock by the rest
// of the range, plus the time since the lift, which leaves as many IDs as without a range.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

// Inclusive.
struct SkippedRange {
  UnixMicros from;
  UnixMicros until;

  constexpr bool holds(UnixMicros moment) const noexcept {
    return from <= moment && moment <= until;
  }
  friend constexpr auto operator<=>(const SkippedRange&, const SkippedRange&) = default;
};

// Sorted, without overlaps.
struct SkippedTimes {
  static constexpr int kMost = 32;
  int64_t count;
  SkippedRange at[kMost];
};

// How long before a range ticks are lifted over it, plus the longest unit in use, in microseconds:
// the usual lead of IDs and ceiling. A constant, because sessions have different settings.
inline constexpr int64_t kLiftEarlyUs = 10000000;

// The most that the longest unit adds to that, in microseconds. Any role can use a layout of days,
// which must not lift other layouts' IDs a day early. Such a layout waits.
inline constexpr int64_t kMostUnitUs = 3600000000;

// The greatest lead of IDs of the right clock, in microseconds. A constant, whatever max_lead a
// session uses. snowid.future_times() has the same one.
inline constexpr int64_t kRightLeadUs = 2000000;

// Ranges that ended longer ago than this plus lift_early_by() are forgotten, in microseconds.
inline constexpr int64_t kForgetUs = 86400000000;

// How long before a range ticks are lifted over it, in microseconds: early_us in the functions
// below. longest_unit_us: the longest unit in use.
constexpr int64_t lift_early_by(int64_t longest_unit_us) noexcept {
  return kLiftEarlyUs + std::min(longest_unit_us, kMostUnitUs);
}

// Upper bound on the time of IDs of the right clock at `now`.
constexpr UnixMicros right_until(UnixMicros now) noexcept { return {now.value + kRightLeadUs}; }

// Whether IDs of the right clock may have reached a range, which then cannot be stated.
constexpr bool is_too_near(const SkippedRange& range, UnixMicros now) noexcept {
  return range.from.value - now.value <= kLiftEarlyUs;
}

constexpr bool is_long_past(const SkippedRange& range, UnixMicros clock,
                            int64_t early_us) noexcept {
  return clock.value - range.until.value > early_us + kForgetUs;
}

// Sorts ranges and joins those too near to each other: IDs above a range must not run into the next
// one before the clock has reached it. A range that is past at `clock` is joined only with those
// that touch it. Returns how many are left. Requires: from <= until in each.
constexpr int64_t join_ranges(SkippedRange* ranges, int64_t count, UnixMicros clock,
                              int64_t early_us) noexcept {
  std::sort(ranges, ranges + count);
  int64_t last = 0;
  for (int64_t i = 1; i < count; i++) {
    SkippedRange* const before = &ranges[last];
    const int64_t length = before->until.value - before->from.value;
    const int64_t gap = ranges[i].from.value - before->until.value;
    if (gap <= 0 || (before->until >= clock && gap <= length + early_us))
      before->until = std::max(before->until, ranges[i].until);
    else
      ranges[++last] = ranges[i];
  }
  return count == 0 ? 0 : last + 1;
}

// The range that holds `moment`, or nullptr.
constexpr const SkippedRange* range_at(const SkippedTimes& times, UnixMicros moment) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (times.at[i].holds(moment)) return &times.at[i];
  return nullptr;
}

// Whether the layout's unit that begins at `start` overlaps a range.
constexpr bool is_skipped_unit(const SkippedTimes& times, const Layout& layout,
                               UnixMicros start) noexcept {
  for (int64_t i = 0; i < times.count; i++) {
    const SkippedRange& range = times.at[i];
    if (start <= range.until && start.value + layout.unit_us > range.from.value) return true;
  }
  return false;
}

// Upper bound on the begin of units, in any layout, until a lift raises `floor`.
constexpr UnixMicros unlifted_until(const SkippedTimes& times, UnixMicros floor) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (floor < times.at[i].until)
      return {times.at[i].from.value - static_cast<int64_t>(kLongestUnitUs)};
  return {INT64_MAX};
}

// The range over which all ticks must be lifted at `clock`, or nullptr.
constexpr const SkippedRange* due_at(const SkippedTimes& times, UnixMicros clock, UnixMicros floor,
                                     int64_t early_us) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (floor < times.at[i].until && times.at[i].from.value - early_us <= clock.value)
      return &times.at[i];
  return nullptr;
}

// The moment from which the lead of IDs counts: the clock, or, after a lift over a range not yet
// passed, the range's end plus the time since. If the clock moves back a little, callers only wait.
constexpr UnixMicros lead_begin(const SkippedTimes& times, UnixMicros clock, UnixMicros floor,
                                int64_t early_us) noexcept {
  UnixMicros from = clock;
  for (int64_t i = 0; i < times.count; i++) {
    const SkippedRange& range = times.at[i];
    const int64_t since = clock.value - (range.from.value - early_us);
    if (range.until <= floor && since >= -kLiftEarlyUs && clock <= range.until)
      from = std::max(from, UnixMicros{range.until.value + since});
  }
  return from;
}

// How far IDs of a layout may go, as of one reading of the clock.
struct IssueLimits {
  UnixMicros clock;
  UnixMicros lead_from;   // the moment from which their lead counts
  UnixMicros limit;       // no unit of time may begin later
  UnixMicros limit_ends;  // until the clock reaches this
};

// How long the ID with a unit from `next` on waits for the clock, in microseconds; not positive if
// it need not. lead_us: the allowed distance from limits.lead_from.
constexpr int64_t wait_us_for(UnixMicros next, const IssueLimits& limits,
                              int64_t lead_us) noexcept {
  const int64_t for_lead = next.value - limits.lead_from.value - lead_us;
  if (next <= limits.limit) return for_lead;
  return std::max(for_lead, limits.limit_ends.value - limits.clock.value);
}

// The first range neither reached by the clock nor lifted over, or nullptr. Requires: none is due.
constexpr const SkippedRange* range_ahead(const SkippedTimes& times, UnixMicros floor) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (floor < times.at[i].until) return &times.at[i];
  return nullptr;
}

}  // namespace snowid::core
