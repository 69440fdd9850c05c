// IDs for existing rows, with the rows' own times (snowid_backfill): the ticks of one shard, one
// row after another. Pure functions of their arguments; nothing here is shared.
#pragma once

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"

namespace snowid::core {

// How far a run of such IDs has come. It begins with all fields zero.
struct Backfill {
  bool begun;
  Tick last;  // the tick of the last ID; of none before the first
};

// The tick of the next row's ID, and moves the run on. The first of a time unit has the sequence 0,
// so rows keep their unit if it has room for them, and rows processed in parts get the same IDs as
// together. If the unit is full, or earlier rows have used it, the tick follows the last one. Ticks
// therefore increase whatever the times are. Fails with kTimeOutOfRange if the layout cannot hold
// the time, or the next one; then the run is unchanged.
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
