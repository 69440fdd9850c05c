// Where the ceiling has been: so that, when a clock turns out to have run ahead, it is known up to
// when there may be IDs of before. Plain arithmetic; nothing here is shared.
//
// It is kept as runs of times, within which any time may have been used, and between which none
// was: while nobody drew IDs, or where a clock jumped. There is room for so many. Where there are
// more, the shortest gap of the older half is forgotten, and its two runs become one.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/types.hpp"

namespace snowid::core {

struct CeilingRun {
  UnixMillis from;
  UnixMillis until;
};

struct CeilingHistory {
  static constexpr int kMost = 64;
  // A shorter gap is none. Nobody minds a wait that is as long.
  static constexpr int64_t kShortestGapMillis = 10000;

  int64_t count;
  CeilingRun runs[kMost];  // in their order
};

// Forgets the shortest gap of the older half. There must be four runs.
constexpr void ForgetGap(CeilingHistory* history) {
  CeilingRun* const runs = history->runs;
  int64_t shortest = 1;
  const auto gap = [runs](int64_t i) { return runs[i].from.value - runs[i - 1].until.value; };
  for (int64_t i = 2; i < history->count / 2; i++)
    if (gap(i) < gap(shortest)) shortest = i;
  runs[shortest - 1].until = runs[shortest].until;
  std::copy(runs + shortest + 1, runs + history->count, runs + shortest);
  history->count--;
}

// Adds times up to `until`, of which the first that is used is `from`; those up to where the
// history ends are known. Nothing is known to be unused shortly before what is used.
constexpr void AddRun(CeilingHistory* history, UnixMillis from, UnixMillis until) {
  if (history->count > 0) {
    UnixMillis* end = &history->runs[history->count - 1].until;
    if (until <= *end) return;
    if (from.value - end->value < CeilingHistory::kShortestGapMillis) {
      *end = until;
      return;
    }
    if (history->count == CeilingHistory::kMost) ForgetGap(history);
  }
  history->runs[history->count++] = {std::min(from, until), until};
}

// Forgets what is above a moment, to which the ceiling was set back.
constexpr void CutAt(CeilingHistory* history, UnixMillis moment) {
  while (history->count > 0 && history->runs[history->count - 1].from > moment) history->count--;
  if (history->count == 0) return;
  UnixMillis* end = &history->runs[history->count - 1].until;
  *end = std::min(*end, moment);
}

// The run that holds a moment and times before it, nullptr where none does.
constexpr const CeilingRun* RunAround(const CeilingHistory& history, UnixMillis moment) {
  for (int64_t i = 0; i < history.count; i++)
    if (history.runs[i].from < moment && moment <= history.runs[i].until) return &history.runs[i];
  return nullptr;
}

// The last time before a moment that may have been used; 0 where none was.
constexpr UnixMillis LastBefore(const CeilingHistory& history, UnixMillis moment) {
  UnixMillis last{0};
  for (int64_t i = 0; i < history.count && history.runs[i].from < moment; i++)
    last = std::min(history.runs[i].until, UnixMillis{moment.value - 1});
  return last;
}

}  // namespace snowid::core
