// The slow path of issuing IDs. See issue.hpp.
#include "pg/ids/issue.hpp"

#include "pg/base/nap.hpp"
#include "pg/ids/ceiling.hpp"
#include "pg/ids/closing.hpp"
#include "pg/ids/errors.hpp"

namespace snowid::pg {

int64 session_last_id = kNoId;

namespace {

// How long a caller waits before it looks at the clock again: a clock that is put right ends the
// wait.
constexpr int64 kLongestNapUs = 100000;
// WaitLatch() counts in milliseconds, too coarse to wait for the beginning of the next one. Waits
// that are shorter than this use pg_usleep(), and are not interruptible.
constexpr int64 kShortestLatchUs = 2000;

int64 elapsed_us(instr_time since) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  INSTR_TIME_SUBTRACT(now, since);
  return static_cast<int64>(INSTR_TIME_GET_MICROSEC(now));
}

// Makes sure that the ceiling allows an ID with the time `moment`. now: the clock.
void make_room(core::UnixMicros moment, core::UnixMicros now) {
  Database* database = my_database;
  int64_t alert = database->alert_us.load(std::memory_order_acquire);
  if (moment.value <= alert) return;
  // What a transaction that has made the sequence raises it to counts as used when it commits, and
  // the next caller has to wait for that. So it goes no further than it must.
  const core::UnixMicros asked_last{HasStandIn() ? now.value : alert};
  const core::CeilingWish wish = core::WishOf(moment, now, asked_last, ceiling_step_us());
  const int64 ceiling = database->ceiling_us.load(std::memory_order_acquire);
  if (moment.value > ceiling) {
    ceiling_raise(moment, wish, Urgency::kMust);
    return;
  }
  // The ceiling is near, but not reached. The session that moves the alert on raises it; the others
  // go on. Should it fail, the next one to reach the new alert tries again.
  const int64_t next_alert = std::min(next_alert_us(moment), ceiling);
  if (database->alert_us.compare_exchange_strong(alert, next_alert, std::memory_order_acq_rel))
    ceiling_raise(moment, wish, Urgency::kEarly);
}

}  // namespace

bool wait_for_clock(ClockWait* wait, int64 for_us) {
  if (!wait->has_begun) INSTR_TIME_SET_CURRENT(wait->since);
  const int64 waited_us = wait->has_begun ? elapsed_us(wait->since) : 0;
  wait->has_begun = true;
  if (for_us > max_wait_us() - waited_us) return false;
  if (for_us < kShortestLatchUs) {
    pg_usleep(for_us);
    CHECK_FOR_INTERRUPTS();
  } else {
    nap(static_cast<long>(std::min(for_us, kLongestNapUs) / 1000), clock_wait_event());
  }
  return true;
}

void wait_until_allowed(const char* what, core::UnixMicros moment) {
  ClockWait wait{};
  for (;;) {
    const int64 ahead_us = moment.value - unix_now().value;
    if (ahead_us <= max_lead_us()) return;
    if (!wait_for_clock(&wait, ahead_us - max_lead_us())) report_ahead(what, ahead_us, max_wait_ms);
  }
}

core::Grant issue_slowly(const core::Layout& layout, core::Shard shard, Slot* slot, uint32 want,
                         core::Span span) {
  ClockWait wait{};
  for (;;) {
    const core::UnixMicros now = unix_now();
    const core::Time now_time = TimeAt(layout, now);
    const core::Tick last{slot->last_tick.load(std::memory_order_relaxed)};
    const core::Time next_time = TimeOf(layout, FirstTick(layout, last, now_time, want, span));
    const core::UnixMicros next = StartOf(layout, next_time);
    if (next_time > layout.max_time) {
      if (last == EndOf(layout) && OidIsValid(slot->key.database)) {
        closed_shards.refuse(layout, shard, slot);
        if (!ceiling_known) ceiling_learn();
        // It may have been opened and closed again since that was asked.
        if (!IsAtEnd(slot, layout) || !IsUsedUp(layout)) continue;
      }
      report_used_up(layout);
    }

    const int64 wait_us = next.value - now.value - max_lead_us();
    if (wait_us > 0) {
      if (!wait_for_clock(&wait, wait_us))
        report_clock_behind({layout, shard, OidIsValid(slot->key.database), next},
                            next.value - now.value);
      continue;
    }
    if (next >= warn_from(layout)) warn_daily(layout, now);
    make_room(next, now);

    const core::UnixMicros limit{std::min(now.value + max_lead_us(),
                                          my_database->ceiling_us.load(std::memory_order_acquire))};
    const core::Grant grant = Take(slot->last_tick, layout, now_time, limit, want, span);
    if (grant.count > 0) return grant;
  }
}

}  // namespace snowid::pg
