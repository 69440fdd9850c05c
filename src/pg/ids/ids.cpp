// What the room offers to others. See ids.hpp.
#include "pg/ids/ids.hpp"

#include "pg/clock.hpp"

namespace snowid::pg {

namespace {

// The most that a new slot that all databases share starts ahead of the clock, so that callers can
// wait for it.
constexpr int64 kLongestStartUs = int64{kDefaultMaxWaitMs} * 1000;

}  // namespace

void ids_learn_ceiling() {
  require_can_issue();
  slots_attach();
  if (database_may_be_another()) {
    close_released();
    database_confirm();
  }
  ceiling_learn();
}

void ids_register() { id_settings_register(); }

void issue_only_above(core::UnixMicros moment) {
  require_ceiling();
  ceiling_lift(moment);
}

void common_make_ready(const core::Layout& layout, CommonPlace* place, core::Sequence start) {
  if (place->slot == nullptr) {
    // Before a crash some database may have been ahead of the clock by snowid.max_lead. A superuser
    // may have set that higher for one session alone, hence the bound.
    const core::UnixMicros used{unix_now().value + std::min(max_lead_us(), kLongestStartUs)};
    const core::Time unused{std::min(time_at(layout, used), layout.max_time).value + 1};
    place->slot = common_slot_of(layout, make_tick(layout, unused, start));
  }
  const int64 floor_us = my_ceiling->floor_us.load(std::memory_order_acquire);
  // A floor that is ahead because this database's slots were lifted over wild times does not raise
  // the slot that all databases share.
  const core::UnixMicros clock = unix_now();
  if (floor_us > clock.value && floor_us <= lead_from_now(clock).value) {
    place->floor_us = floor_us;
    return;
  }
  // A slot of its own takes the first tick above the floor. If that has to wait or fails, the
  // common slot is as it was.
  Slot own{};
  own.last_tick.store(last_tick_at(layout, {floor_us}).value, std::memory_order_relaxed);
  const core::Tick above = issue(layout, {0}, &own, 1, core::Span::kAny).first;
  core::raise_to(place->slot->last_tick, {above.value - 1});
  place->floor_us = floor_us;
}

}  // namespace snowid::pg
