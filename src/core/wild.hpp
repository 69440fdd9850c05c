// Wild times: intervals that a clock which ran ahead has used up, and that have been left since, so
// that they lie in the future again. Plain arithmetic; nothing here is shared.
//
// No ID may get a time in such an interval twice. So when the right clock comes to it, IDs go on
// above its end. To keep them from running into the wait that is due to a clock which is behind
// them, the clock then counts as one that goes at half its speed from the end of the interval on,
// until the right one has caught up with it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

// IDs with times from `from` to `until` may have been issued, and others after them with times
// above `rewound_to`, which is below `from`.
struct Wild {
  UnixMicros from;
  UnixMicros until;
  UnixMicros rewound_to;

  constexpr bool Holds(UnixMicros moment) const { return from <= moment && moment <= until; }
};

// The wild times of a database, in their order, each apart from the others. None is ever forgotten:
// no clock tells for certain that they are past. Where there are more than it can hold, the two
// with the shortest gap become one, with what is between them.
struct WildTimes {
  static constexpr int kMost = 32;
  int64_t count;
  Wild at[kMost];
};

// Adds an interval. from must not be after until.
constexpr void AddWild(WildTimes* times, Wild wild) {
  const auto join = [](const Wild& a, const Wild& b) -> Wild {
    const UnixMicros from = std::min(a.from, b.from);
    return {from, std::max(a.until, b.until),
            std::min(std::max(a.rewound_to, b.rewound_to), UnixMicros{from.value - 1})};
  };
  Wild apart[WildTimes::kMost + 1]{};
  int64_t count = 0;
  for (int64_t i = 0; i < times->count; i++) {
    const Wild& known = times->at[i];
    if (known.until < wild.from || wild.until < known.from)
      apart[count++] = known;
    else
      wild = join(wild, known);
  }
  int64_t place = count++;
  for (; place > 0 && apart[place - 1].from > wild.from; place--) apart[place] = apart[place - 1];
  apart[place] = wild;
  if (count > WildTimes::kMost) {
    const auto gap = [&apart](int64_t i) { return apart[i].from.value - apart[i - 1].until.value; };
    int64_t shortest = 1;
    for (int64_t i = 2; i < count; i++)
      if (gap(i) < gap(shortest)) shortest = i;
    apart[shortest - 1] = join(apart[shortest - 1], apart[shortest]);
    std::copy(apart + shortest + 1, apart + count--, apart + shortest);
  }
  times->count = count;
  std::copy_n(apart, count, times->at);
}

// The interval that holds a moment, nullptr where none does.
constexpr const Wild* WildAt(const WildTimes& times, UnixMicros moment) {
  for (int64_t i = 0; i < times.count; i++)
    if (times.at[i].Holds(moment)) return &times.at[i];
  return nullptr;
}

// The first interval that begins after a moment, nullptr where none does.
constexpr const Wild* WildAfter(const WildTimes& times, UnixMicros moment) {
  for (int64_t i = 0; i < times.count; i++)
    if (times.at[i].from > moment) return &times.at[i];
  return nullptr;
}

// The last whole millisecond before an interval.
constexpr UnixMillis MillisBefore(const Wild& wild) { return {(wild.from.value - 1) / 1000}; }

// What the ceiling, which is at `ceiling`, is raised to where it was to be `target`: not as far as
// the next interval, unless somebody has lifted all IDs above that.
constexpr UnixMillis ShortOf(const WildTimes& times, UnixMicros ceiling, UnixMillis target) {
  const Wild* next = WildAfter(times, ceiling);
  return next == nullptr ? target : std::min(target, MillisBefore(*next));
}

// And where all IDs are lifted to `target`: out of an interval.
constexpr UnixMillis Beyond(const WildTimes& times, UnixMillis target) {
  const Wild* wild = WildAt(times, MicrosOf(target));
  return wild == nullptr ? target : UnixMillis{wild->until.value / 1000 + 1};
}

// Whether a unit of time that begins at `start` has a part in the interval.
constexpr bool Touches(const Layout& layout, const Wild& wild, UnixMicros start) {
  return start <= wild.until && start.value + layout.unit_us > wild.from.value;
}

// What counts as the clock where IDs have gone on above the end of the interval. soon_us: how long
// before the interval begins that may be so.
constexpr UnixMicros ClockBeyond(const Wild& wild, UnixMicros clock, int64_t soon_us) {
  const int64_t since = clock.value - (wild.from.value - soon_us);
  if (since < 0) return clock;
  return std::max(clock, UnixMicros{wild.until.value + kInstagram.unit_us + since / 2});
}

}  // namespace snowid::core
