// The start of a new slot, and the range of a watermark (pg/ids/watermark.cpp). Pure functions.
#pragma once

#include <algorithm>

#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"

namespace snowid::core {

// The times of a database above which new slots start.
struct SlotStart {
  UnixMicros floor;  // every time up to it may have been used
  // Slots with a last unit ended by `swept`, and begun by `swept_ceiling`, may have been removed.
  UnixMicros swept;
  UnixMicros swept_ceiling;
  UnixMicros watermark;  // the last watermark's time
};

// Whether watermarks cover the unit of the last ID. Slots skip the rest of that unit, so it must be
// short. In other layouts, watermarks cover units that have ended.
constexpr bool has_short_unit(const Layout& layout) noexcept { return layout.unit_us <= 10'000; }

// The tick of a new slot: above times used, IDs of swept slots, and the last watermark.
constexpr Tick start_tick_of(const Layout& layout, const SlotStart& start) noexcept {
  const Tick read = has_short_unit(layout) ? last_tick_at(layout, start.watermark)
                                           : last_tick_before(layout, start.watermark);
  const Tick floor = std::max(last_tick_at(layout, start.floor), read);
  // All of these fit in memory: sweeps need not remove them.
  if (layout.spec == kInstagram.spec) return floor;
  const Tick gone =
      std::min(last_tick_before(layout, start.swept), last_tick_at(layout, start.swept_ceiling));
  return std::max(floor, gone);
}

// The greatest ID of a unit of time, 0 before the epoch.
constexpr Id last_id_of(const Layout& layout, Time time) noexcept {
  return time.value < 0 ? Id{0} : greatest_id_of(layout, std::min(time, layout.max_time));
}

// A watermark: the greatest ID issued, or the last one of the units that have ended. In a layout of
// long units, the current unit, or an ID ahead of the clock, cannot be skipped.
constexpr Id watermark_of(const Layout& layout, Id greatest, Time ended) noexcept {
  if (has_short_unit(layout)) return std::max(greatest, last_id_of(layout, ended));
  Parts parts{};
  decompose(layout, greatest, &parts);
  return last_id_of(layout, std::max(Time{parts.time.value - 1}, ended));
}

}  // namespace snowid::core
