// How the IDs of a layout are cut into partitions by their time. Pure functions of their arguments;
// nothing here is shared.
//
// A partition holds the IDs whose unit of time begins within it, as snowid_between() says it, and
// begins where the one before it ends. So bounds are the calendar's, but for the first after one of
// another width or made by hand, which is shorter; and no ID is left between two.
#pragma once

#include <cstdint>

#include "core/calendar.hpp"
#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

struct NewPartition {
  UnixMicros begins;  // what it is named by
  Id from;
  Id end;        // the first ID after it
  bool is_last;  // the layout ends within it: it has no end
};

// The first ID made at a moment or later, of a layout in which time is first; the greatest bigint,
// which is none of these, where the layout ends before.
constexpr Id FirstIdFrom(const Layout& layout, UnixMicros moment) {
  return Between(layout, moment, layout.end).first;
}

// The partition that begins with an ID, which is the first of it, or with the first time of the
// layout where that is later. False where the layout has none from there on.
constexpr bool PartitionFrom(const Layout& layout, const Step& step, Id from, NewPartition* next) {
  if (from.value < 0) from = {0};
  if (from > GreatestOf(layout, layout.max_time)) return false;
  Parts parts{};
  if (Decompose(layout, from, &parts) != Status::kOk) return false;
  const UnixMicros moment = StartOf(layout, parts.time);
  const Period period = PeriodAt(step, moment);
  const Id end = FirstIdFrom(layout, period.end);
  // Units of time need not begin when periods do.
  const bool is_whole = from.value > 0 && FirstIdFrom(layout, period.start) == from;
  *next = {is_whole ? period.start : moment, from, end, end.value == INT64_MAX};
  return true;
}

// The partition that the IDs made at a moment belong to. Fails with kTimeOutOfRange where the
// layout has no time for that.
constexpr Status PartitionAt(const Layout& layout, const Step& step, UnixMicros moment,
                             NewPartition* first) {
  const Time time = TimeAt(layout, moment);
  if (time.value < 0 || time > layout.max_time) return Status::kTimeOutOfRange;
  // That of their unit of time, which may have begun in the period before.
  const Period period = PeriodAt(step, StartOf(layout, time));
  const Id end = FirstIdFrom(layout, period.end);
  *first = {period.start, FirstIdFrom(layout, period.start), end, end.value == INT64_MAX};
  return Status::kOk;
}

}  // namespace snowid::core
