// Skipped times: ranges of time, ahead of the clock, that IDs have got from a fast clock. A
// superuser states which they are (snowid.return_to_clock). Plain arithmetic; nothing here is
// shared.
//
// No ID may get such a time again. Therefore a little before the clock reaches a range, all ticks
// of the database are lifted to its end, and IDs continue above that. The floor shows whether this
// was done: it is then at the end of the range or above. Until the clock has passed the end, IDs
// may be ahead of it by the rest of the range, and by the time since they were lifted. That leaves
// as many IDs as without a range.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

// Times from `from` to `until`, both included.
struct SkippedRange {
  UnixMicros from;
  UnixMicros until;

  constexpr bool holds(UnixMicros moment) const noexcept {
    return from <= moment && moment <= until;
  }
  friend constexpr auto operator<=>(const SkippedRange&, const SkippedRange&) = default;
};

// The skipped times of a database, in order, without overlaps.
struct SkippedTimes {
  static constexpr int kMost = 32;
  int64_t count;
  SkippedRange at[kMost];
};

// How long before a range all ticks are lifted over it, in addition to the longest unit in use, in
// microseconds. As far, and no further, IDs and the ceiling usually are ahead of the clock. A
// constant, because the settings of sessions differ.
inline constexpr int64_t kLiftEarlyUs = 10000000;

// The most that the longest unit counts for that, in microseconds. Any role can use a layout of
// days, which must not lift the IDs of other layouts a day early. Such a layout waits.
inline constexpr int64_t kMostUnitUs = 3600000000;

// How far ahead of the clock IDs of the right clock are at most, when skipped times are stated, in
// microseconds: a constant, whatever lead a session allows itself. snowid.future_times() has the
// same.
inline constexpr int64_t kRightLeadUs = 2000000;

// A range that ended longer ago than this, in microseconds, plus the time that ticks are lifted
// early, is forgotten when the next ones are stated.
inline constexpr int64_t kForgetUs = 86400000000;

// How long before a range ticks are lifted over it, in microseconds. longest_unit_us: the longest
// unit that is in use.
constexpr int64_t lift_early_by(int64_t longest_unit_us) noexcept {
  return kLiftEarlyUs + std::min(longest_unit_us, kMostUnitUs);
}

// No ID of the right clock is above this, if their lead counts from `now`.
constexpr UnixMicros right_until(UnixMicros now) noexcept { return {now.value + kRightLeadUs}; }

// Whether IDs of the right clock may have come to a range already, and so it cannot be stated.
constexpr bool is_too_near(const SkippedRange& range, UnixMicros now) noexcept {
  return range.from.value - now.value <= kLiftEarlyUs;
}

// Whether a range is forgotten. early_us: how long before a range ticks are lifted over it.
constexpr bool is_long_past(const SkippedRange& range, UnixMicros clock,
                            int64_t early_us) noexcept {
  return clock.value - range.until.value > early_us + kForgetUs;
}

// Puts ranges in their order, and joins those that are too near to one another: once IDs are above
// a range they must not run into the next one before the clock has come to it. early_us: how long
// before a range ticks are lifted over it. One that is past at `clock` is joined only with what
// meets it. Returns how many are left. Requires: in each, `from` is not after `until`.
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

// The range that holds a moment, nullptr if none does.
constexpr const SkippedRange* range_at(const SkippedTimes& times, UnixMicros moment) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (times.at[i].holds(moment)) return &times.at[i];
  return nullptr;
}

// Whether the unit of time of a layout that begins at `start` has a part in any range.
constexpr bool is_skipped_unit(const SkippedTimes& times, const Layout& layout,
                               UnixMicros start) noexcept {
  for (int64_t i = 0; i < times.count; i++) {
    const SkippedRange& range = times.at[i];
    if (start <= range.until && start.value + layout.unit_us > range.from.value) return true;
  }
  return false;
}

// Up to when units of time may begin, whatever their layout, while no tick has been lifted since
// the floor was at `floor`.
constexpr UnixMicros unlifted_until(const SkippedTimes& times, UnixMicros floor) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (floor < times.at[i].until)
      return {times.at[i].from.value - static_cast<int64_t>(kLongestUnitUs)};
  return {INT64_MAX};
}

// The range over which all ticks are to be lifted now, nullptr if there is none. early_us: as for
// join_ranges().
constexpr const SkippedRange* due_at(const SkippedTimes& times, UnixMicros clock, UnixMicros floor,
                                     int64_t early_us) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (floor < times.at[i].until && times.at[i].from.value - early_us <= clock.value)
      return &times.at[i];
  return nullptr;
}

// From when on the lead of IDs counts: the clock, or, if they have been lifted over a range that it
// has not passed yet, the end of the range plus the time since. If the clock moves back by a few
// seconds just after that, callers wait, and no more.
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

// How far IDs of a layout may go, as of one look at the clock.
struct IssueLimits {
  UnixMicros clock;
  UnixMicros lead_from;   // from when on their lead counts
  UnixMicros limit;       // no unit of time may begin after this
  UnixMicros limit_ends;  // when the clock is here that limit is another
};

// How long the ID whose unit of time begins at `next` has to wait for the clock, in microseconds; 0
// or less if it need not wait. lead_us: how far IDs may be ahead of the moment from which their
// lead counts.
constexpr int64_t wait_us_for(UnixMicros next, const IssueLimits& limits,
                              int64_t lead_us) noexcept {
  const int64_t for_lead = next.value - limits.lead_from.value - lead_us;
  if (next <= limits.limit) return for_lead;
  return std::max(for_lead, limits.limit_ends.value - limits.clock.value);
}

// The first range that IDs have not been lifted over and the clock has not reached, nullptr if
// there is none. Requires: none is due.
constexpr const SkippedRange* range_ahead(const SkippedTimes& times, UnixMicros floor) noexcept {
  for (int64_t i = 0; i < times.count; i++)
    if (floor < times.at[i].until) return &times.at[i];
  return nullptr;
}

}  // namespace snowid::core
