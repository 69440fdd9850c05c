// IDs for existing rows, with the rows' own times (snowid_backfill). Pure functions.
#pragma once

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"

namespace snowid::core {

struct Backfill {
  bool begun;
  Tick last;  // the tick of the last ID, if begun
};

// Sets *tick to that of the next row. A time unit begins with sequence 0: rows keep their unit if
// it has room, and get the same IDs in parts as at once. If the unit is full or used, the tick
// follows the last one. Fails with kTimeOutOfRange, leaving the run unchanged.
constexpr Status next_of(const Layout& layout, UnixMicros moment, Backfill* run,
                         Tick* tick) noexcept {
  const Time time = time_at(layout, moment);
  if (time.value < 0 || time > layout.max_time) return Status::kTimeOutOfRange;
  Tick next = make_tick(layout, time, {0});
  if (run->begun && next <= run->last) next = {run->last.value + 1};
  if (time_of(layout, next) > layout.max_time) return Status::kTimeOutOfRange;
  *run = {true, next};
  *tick = next;
  return Status::kOk;
}

}  // namespace snowid::core
