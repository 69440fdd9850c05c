// The slow path of issuing IDs. See issue.hpp.
#include "pg/ids/issue.hpp"

#include "pg/clock.hpp"
#include "pg/ids/errors.hpp"
#include "pg/ids/moved_shards.hpp"
#include "pg/ids/reach.hpp"

namespace snowid::pg {

namespace {

// How long a caller waits before it looks at the clock again: a clock that is put right ends the
// wait.
constexpr int64 kLongestNapUs = 100000;
// WaitLatch() counts in milliseconds, too coarse to wait for the beginning of the next one. Waits
// that are shorter than this use pg_usleep(), and are not interruptible.
constexpr int64 kShortestLatchUs = 2000;

// A draw on the slow path.
struct SlowDraw {
  const core::Layout& layout;
  core::Shard shard;
  Slot* slot;
  uint32 want;
  core::Span span;
  bool is_common;  // whether the IDs are of a kind that all databases share
  ClockWait wait;

  EventOf event() const noexcept { return {layout, shard, !is_common}; }
};

// How far its IDs may go. Those of a kind that all databases share go by the clock alone, through
// wild times as well, for they have random bits.
core::Reach reach_of(const SlowDraw& draw) {
  if (!draw.is_common) return reach_now(draw.layout);
  const core::UnixMicros clock = unix_now();
  return {clock, clock, {PG_INT64_MAX}, {PG_INT64_MAX}};
}

// Makes sure that the ceiling allows an ID with the time `moment`, and that this database may issue
// it. now: the clock. is_common: of a kind that all databases share, and that a copy may issue,
// too.
void make_room_below_ceiling(core::UnixMicros moment, core::UnixMicros now, bool is_common) {
  Ceiling* shared = my_ceiling;
  if (!shared_database->may_issue.load(std::memory_order_acquire)) check_may_issue(!is_common);
  int64_t alert = shared->alert_us.load(std::memory_order_acquire);
  if (moment.value <= alert) return;
  const int64 ceiling = shared->ceiling_us.load(std::memory_order_acquire);
  // Within a day of wild times the alert stays where it is, and the ceiling is not raised early.
  const core::UnixMicros alert_end = last_alert();
  const bool is_before_wild = moment > alert_end;
  if (is_before_wild && moment.value <= ceiling) return;
  // What a transaction that has made the sequence raises it to counts as used when it commits, and
  // the next caller has to wait for that. So it goes no further than it must.
  const core::UnixMicros asked_last{has_own_ceiling() || is_before_wild ? now.value : alert};
  const core::CeilingWish wish = core::wish_of(moment, now, asked_last, ceiling_step_us());
  if (moment.value > ceiling) {
    ceiling_raise(moment, wish, Urgency::kMust);
    return;
  }
  // The ceiling is near, but not reached. The session that moves the alert on raises the ceiling;
  // the others go on. If that fails, the next one to reach the new alert tries again.
  const int64_t next_alert = std::min({next_alert_us(moment), ceiling, alert_end.value});
  if (!shared_database->may_issue.load(std::memory_order_acquire)) return;
  // Acquires the 0 that recheck_may_issue() has released, if that came before: then the next load
  // of may_issue is false. Where the 0 comes later it stays.
  if (!shared->alert_us.compare_exchange_strong(alert, next_alert, std::memory_order_acq_rel,
                                                std::memory_order_relaxed))
    return;
  // recheck_may_issue() may have set the alert to 0 where it was 0 before, so that the exchange did
  // not fail.
  if (shared_database->may_issue.load(std::memory_order_acquire))
    ceiling_raise(moment, wish, Urgency::kEarly);
  else
    shared->alert_us.store(0, std::memory_order_release);
}

// Reports why the slot, whose last tick is `last`, has no next one; or returns where it has been
// opened since.
void refuse_at_end(const SlowDraw& draw, core::Tick last) {
  if (last == end_of(draw.layout) && !draw.is_common) {
    refuse_released(draw.layout, draw.shard, draw.slot);
    // It may have been opened and closed again since that was asked.
    if (!is_at_end(draw.slot, draw.layout) || !is_used_up(draw.layout)) return;
  }
  note_refusal(draw.event(), "The layout's time is used up.");
  report_used_up(draw.layout);
}

// Waits a while for the clock, `wait_us` of it, to come to an ID with the time `next`; or reports
// that this is longer than the caller may wait.
void wait_for_clock(SlowDraw* draw, core::UnixMicros next, int64 wait_us) {
  ClockWait* wait = &draw->wait;
  if (!may_wait(wait, wait_us)) {
    const int64 ahead_us = wait_us + max_lead_us();
    note_refusal(draw->event(), behind_text(ahead_us));
    report_clock_behind({draw->layout, draw->shard, !draw->is_common, next}, ahead_us);
  }
  // Counted before the sleep, too: a caller that is cancelled during it has waited.
  note_wait(draw->event(), &wait->counted, elapsed_us(wait->since), next);
  wait_a_while(wait_us);
  note_wait(draw->event(), &wait->counted, elapsed_us(wait->since), next);
}

// Takes IDs, the first of which would have the time `next`. The count is 0 where somebody else has
// taken that, and what comes next is beyond the limit.
core::Grant take_ids(const SlowDraw& draw, const core::Reach& reach, core::UnixMicros next) {
  const core::Layout& layout = draw.layout;
  const core::UnixMicros now = reach.clock;
  if (next >= warn_from(layout)) note_end(layout);
  make_room_below_ceiling(next, now, draw.is_common);
  const core::UnixMicros limit{
      std::min({reach.lead_from.value + max_lead_us(),
                my_ceiling->ceiling_us.load(std::memory_order_acquire), reach.limit.value})};
  const core::Grant grant =
      take(draw.slot->last_tick, layout, time_at(layout, now), limit, draw.want, draw.span);
  if (grant.count > 0) {
    const core::Tick end{grant.first.value + grant.count - 1};
    note_lead(start_of(layout, time_of(layout, end)).value - now.value);
  }
  return grant;
}

}  // namespace

bool may_wait(ClockWait* wait, int64 for_us) noexcept {
  if (!wait->has_begun) INSTR_TIME_SET_CURRENT(wait->since);
  wait->has_begun = true;
  return for_us <= max_wait_us() - elapsed_us(wait->since);
}

void wait_a_while(int64 for_us) {
  if (for_us < kShortestLatchUs) {
    pg_usleep(for_us);
    CHECK_FOR_INTERRUPTS();
  } else {
    nap(static_cast<long>(std::min(for_us, kLongestNapUs) / 1000), clock_wait_event());
  }
}

void wait_until_allowed(const char* what, core::UnixMicros moment) {
  ClockWait wait{};
  require_ceiling();
  for (;;) {
    const int64 ahead_us = moment.value - lead_from_now(unix_now()).value;
    if (ahead_us <= max_lead_us()) return;
    if (!may_wait(&wait, ahead_us - max_lead_us())) report_ahead(what, ahead_us, max_wait_ms);
    wait_a_while(ahead_us - max_lead_us());
  }
}

core::Grant issue_slowly(const core::Layout& layout, core::Shard shard, Slot* slot, uint32 want,
                         core::Span span) {
  SlowDraw draw{layout, shard, slot, want, span, !OidIsValid(slot->key.database), {}};
  note_clock();
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    // Read before the reach: a session that lifts slots over a wild time raises the floor first.
    const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
    const core::Reach reach = reach_of(draw);
    const core::Time now = time_at(layout, reach.clock);
    const core::Time time = time_of(layout, first_tick(layout, last, now, want, span));
    if (time > layout.max_time) {
      refuse_at_end(draw, last);
      continue;
    }
    const core::UnixMicros next = start_of(layout, time);
    const int64 wait_us = wait_us_for(next, reach, max_lead_us());
    if (wait_us > 0) {
      wait_for_clock(&draw, next, wait_us);
      continue;
    }
    const core::Grant grant = take_ids(draw, reach, next);
    if (grant.count > 0) return grant;
  }
}

}  // namespace snowid::pg
