#include "pg/ids/reach.hpp"

#include "pg/clock.hpp"

namespace snowid::pg {

namespace {

constexpr core::UnixMicros kNever{PG_INT64_MAX};

}  // namespace

core::Reach reach_now(const core::Layout& layout) {
  for (;;) {
    const core::UnixMicros clock = unix_now();
    const core::WildTimes& times = wild_times_now();
    const core::UnixMicros floor = shared_floor();
    const int64 early_us = lift_early_us();
    const core::Wild* due = due_at(times, clock, floor, early_us);
    if (due != nullptr) {
      // All slots are lifted at once, so that the floor says which ranges were stepped over.
      ceiling_lift(due->until);
      continue;
    }
    const core::UnixMicros lead_from = lead_begin(times, clock, floor, early_us);
    const core::Wild* ahead = wild_ahead(times, floor);
    if (ahead == nullptr) return {clock, lead_from, kNever, kNever};
    return {clock, lead_from, {ahead->from.value - layout.unit_us}, {ahead->from.value - early_us}};
  }
}

}  // namespace snowid::pg
