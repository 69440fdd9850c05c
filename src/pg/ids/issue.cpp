#include "pg/ids/issue.hpp"

#include "core/ceiling.hpp"
#include "pg/ids/shards.hpp"
#include "pg/types/layout.hpp"

extern "C" {
#include "portability/instr_time.h"
}

namespace snowid::pg {

int64 default_shard = kUnresolvedShard;
uint64 changes_seen = 0;

namespace {

// The longest nap: a corrected clock ends the wait.
constexpr int64 kLongestNapUs = 100000;
// WaitLatch() counts in ms, too coarse for the next one. Shorter waits use pg_usleep().
constexpr int64 kShortestLatchUs = 2000;

struct SlowDraw {
  EventOf of;
  Slot* slot;
  uint32 want;
  core::Span span;
  ClockWait wait;
};

constexpr int64 kMinuteUs = SECS_PER_MINUTE * USECS_PER_SEC;

// The snowid.max_lead in minutes that allows this lead, with a minute to spare.
constexpr int64 lead_minutes(int64 ahead_us) noexcept { return ahead_us / kMinuteUs + 2; }

constexpr bool any_lead_allows(int64 ahead_us) noexcept {
  return lead_minutes(ahead_us) <= PG_INT32_MAX * int64{1000} / kMinuteUs;
}

// The statement that allows this lead. Up to PostgreSQL 16, ALTER SYSTEM needs LOAD.
const char* allow_text(int64 ahead_us) {
  return psprintf("LOAD 'snowid'; ALTER SYSTEM SET snowid.max_lead = '" INT64_FORMAT
                  "min'; SELECT pg_reload_conf();",
                  lead_minutes(ahead_us));
}

// The reason for the next ID's lead, as far as the layout shows it, and the remedy.
int hint_at_next(const core::Layout& layout, core::UnixMicros next, int64 behind_us) {
  if (next == layout.epoch) return errhint("The layout begins then.");
  const int64 unit_us = layout.unit_us;
  if (unit_us > max_wait_us() && behind_us <= unit_us + max_lead_us())
    return errhint(
        "A unit of the layout takes longer. When all of its sequence is used, or the "
        "server started in the middle of it, IDs continue with the next unit.");
  if (behind_us <= kMinuteUs)
    return errhint(
        "Correct the server's clock. If it is right, wait until it has caught up, or let IDs run "
        "further ahead of it, as a superuser: %s",
        allow_text(behind_us));
  if (!any_lead_allows(behind_us))
    return errhint(
        "Correct the server's clock. If it is right, and was ahead before, return to it, as a "
        "superuser, by snowid.return_to_clock() with the times found by snowid.future_times().");
  return errhint(
      "Correct the server's clock. If it is right, and was ahead before, return to it, as a "
      "superuser, by snowid.return_to_clock() with the times found by snowid.future_times(); or "
      "wait until it has caught up; or let IDs run further ahead of it: %s",
      allow_text(behind_us));
}

int hint_at_ahead(int64 ahead_us) {
  if (!any_lead_allows(ahead_us)) return errhint("Compare the clocks of the two servers.");
  return errhint(
      "Compare the clocks of the two servers. If they are right, wait, or let IDs run further "
      "ahead, as a superuser: %s",
      allow_text(ahead_us));
}

// Raises: kClockBehind because the clock is `behind_us` behind the next ID's time.
[[noreturn]] void report_clock_behind(const EventOf& of, core::UnixMicros next, int64 behind_us) {
  ereport(ERROR, errcode(kClockBehind),
          of.has_shard
              ? errmsg("clock is %s behind the next ID of shard " UINT64_FORMAT " of layout \"%s\"",
                       span_text(behind_us), of.shard.value, layout_text(of.layout.spec))
              : errmsg("clock is %s behind the next ID", span_text(behind_us)),
          errdetail("The next ID's time is %s; \"snowid.max_lead\" lets it run ahead of the clock "
                    "by %s, and \"snowid.max_wait\" lets a caller wait for %s.",
                    moment_text(next), span_text(max_lead_us()), span_text(max_wait_us())),
          hint_at_next(of.layout, next, behind_us));
}

// Reads the clock, and returns how far IDs may go without a skipped time. Lifts this database's
// slots durably over a range that is due. Common slots, with random bits, follow the clock alone.
core::IssueLimits limits_now(const EventOf& of) {
  constexpr core::UnixMicros kNever{PG_INT64_MAX};
  for (;;) {
    const core::UnixMicros clock = unix_now();
    if (!of.has_shard) return {clock, clock, kNever, kNever};
    const core::SkippedTimes& times = skipped_times();
    const core::UnixMicros floor = shared_floor();
    const int64 early_us = lift_early_us();
    const core::SkippedRange* due = due_at(times, clock, floor, early_us);
    if (due != nullptr) {
      // All slots at once: the floor then shows which ranges were stepped over.
      ceiling_lift(due->until);
      continue;
    }
    const core::UnixMicros lead_from = lead_begin(times, clock, floor, early_us);
    const core::SkippedRange* ahead = range_ahead(times, floor);
    if (ahead == nullptr) return {clock, lead_from, kNever, kNever};
    return {
        clock, lead_from, {ahead->from.value - of.layout.unit_us}, {ahead->from.value - early_us}};
  }
}

// Makes the ceiling allow an ID at `moment`, and checks that this node may issue it. has_shard:
// false for common slots, whose IDs a copy may issue, too.
void make_room_below_ceiling(core::UnixMicros moment, core::UnixMicros now, bool has_shard) {
  Ceiling* mine = my_ceiling;
  if (!shared_database->may_issue.load(std::memory_order_acquire)) check_may_issue(has_shard);
  int64_t alert = mine->alert_us.load(std::memory_order_acquire);
  if (moment.value <= alert) return;
  const int64 ceiling = mine->ceiling_us.load(std::memory_order_acquire);
  // Within a day of skipped times, the alert is unchanged, and the ceiling is not raised early.
  const core::UnixMicros alert_end = last_alert();
  const bool is_before_skipped = moment > alert_end;
  if (is_before_skipped && moment.value <= ceiling) return;
  // If this transaction created the sequence, the next caller after its commit waits for that.
  const bool seldom =
      !has_own_ceiling() && !is_before_skipped && core::is_seldom(now, {alert}, ceiling_step_us());
  const core::CeilingWish wish = core::wish_of(moment, now, seldom, ceiling_step_us());
  if (moment.value > ceiling) {
    ceiling_raise(moment, wish, Urgency::kMust);
    return;
  }
  // The session that moves the alert raises the ceiling while other sessions continue. If it fails,
  // the next session to reach the new alert tries again.
  const int64_t next_alert = std::min({next_alert_us(moment), ceiling, alert_end.value});
  if (!shared_database->may_issue.load(std::memory_order_acquire)) return;
  // Acquires the 0 of an earlier recheck_may_issue(), and may_issue with it. A later 0 stays.
  if (!mine->alert_us.compare_exchange_strong(alert, next_alert, std::memory_order_acq_rel,
                                              std::memory_order_relaxed))
    return;
  // If the alert was 0 before recheck_may_issue(), the exchange succeeded nevertheless.
  if (shared_database->may_issue.load(std::memory_order_acquire))
    ceiling_raise(moment, wish, Urgency::kEarly);
  else
    mine->alert_us.store(0, std::memory_order_release);
}

// Raises the error for a slot at its end, unless it was opened since.
void refuse_at_end(const SlowDraw& draw, core::Tick last) {
  if (last == end_of(draw.of.layout) && draw.of.has_shard) {
    refuse_released(draw.of.layout, draw.of.shard, draw.slot);
    // It may have been opened and closed again since.
    if (!is_at_end(draw.slot, draw.of.layout) || !is_used_up(draw.of.layout)) return;
  }
  note_refusal(draw.of, "The layout is exhausted.");
  report_used_up(draw.of.layout);
}

// Within snowid.max_wait in total.
bool may_wait(ClockWait* wait, int64 for_us) noexcept {
  if (INSTR_TIME_IS_ZERO(wait->since)) INSTR_TIME_SET_CURRENT(wait->since);
  return for_us <= max_wait_us() - elapsed_us(wait->since);
}

// Sleeps once toward an ID at `next`, `wait_us` away. Raises: SN001 if that is too long.
void wait_for_clock(SlowDraw* draw, core::UnixMicros next, int64 wait_us) {
  ClockWait* wait = &draw->wait;
  if (!may_wait(wait, wait_us)) {
    const int64 behind_us = wait_us + max_lead_us();
    note_refusal(draw->of, psprintf("The clock is %s behind the next ID.", span_text(behind_us)));
    report_clock_behind(draw->of, next, behind_us);
  }
  // Also before the sleep, for a caller canceled in it.
  note_wait(draw->of, wait, next);
  wait_a_while(wait_us);
  note_wait(draw->of, wait, next);
}

// Takes IDs, the first at `next`, or none if another process was faster and the limit is reached.
core::Grant take_ids(const SlowDraw& draw, const core::IssueLimits& limits, core::UnixMicros next) {
  const core::Layout& layout = draw.of.layout;
  const core::UnixMicros now = limits.clock;
  if (next >= warn_from(layout)) note_end(layout);
  make_room_below_ceiling(next, now, draw.of.has_shard);
  const core::UnixMicros limit{
      std::min({limits.lead_from.value + max_lead_us(),
                my_ceiling->ceiling_us.load(std::memory_order_acquire), limits.limit.value})};
  const core::Grant grant =
      take(draw.slot->last_tick, layout, time_at(layout, now), limit, draw.want, draw.span);
  if (grant.count > 0) {
    const core::Tick end{grant.first.value + grant.count - 1};
    raise_time(&shared_database->counts[kMaxLeadUs],
               start_of(layout, time_of(layout, end)).value - now.value);
  }
  return grant;
}

}  // namespace

void default_shard_forget() {
  default_shard = kUnresolvedShard;
  changes_seen = kNoChanges;
}

pg_noinline int64 shard_resolve() {
  // Before shared memory is attached, changes_seen comes from this process's own word: the second
  // call then resolves the shard again. The changes are read first, so the next caller notices a
  // later one, or default_shard_forget(). If shard_of_setting() fails, the previous shard is no
  // longer used.
  default_shard = kUnresolvedShard;
  changes_seen = changes_of(number_word->load(std::memory_order_acquire));
  return default_shard = shard_of_setting();
}

void report_used_up(const core::Layout& layout) {
  ereport(ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
          errmsg("ID layout \"%s\" is exhausted", layout_text(layout.spec)),
          errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
          errhint("Use another layout, or the same one with a later epoch."));
}

void report_ahead(const char* what, int64 ahead_us, int wait_ms) {
  ereport(ERROR, errcode(kClockBehind),
          errmsg("%s is %s ahead of the clock", what, span_text(ahead_us)),
          wait_ms == 0
              ? errdetail("\"snowid.max_lead\" allows %s.", span_text(max_lead_us()))
              : errdetail("\"snowid.max_lead\" allows %s, and \"snowid.max_wait\" lets a caller "
                          "wait for %s.",
                          span_text(max_lead_us()), span_text(int64{wait_ms} * 1000)),
          hint_at_ahead(ahead_us));
}

void ids_learn_ceiling() {
  require_can_issue();
  slots_attach();
  if (database_may_be_another()) {
    close_released();
    database_confirm();
  }
  ceiling_learn();
}

void wait_a_while(int64 for_us) {
  if (for_us < kShortestLatchUs) {
    pg_usleep(for_us);
    CHECK_FOR_INTERRUPTS();
  } else {
    nap(static_cast<long>(std::min(for_us, kLongestNapUs) / 1000), wait_event("SnowidClock"));
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
  SlowDraw draw{{layout, shard, OidIsValid(slot->key.database)}, slot, want, span, {}};
  note_clock();
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    // Read before the limits: a session that lifts slots raises the floor first.
    const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
    const core::IssueLimits limits = limits_now(draw.of);
    const core::Time now = time_at(layout, limits.clock);
    const core::Time time = time_of(layout, first_tick(layout, last, now, want, span));
    if (time > layout.max_time) {
      refuse_at_end(draw, last);
      continue;
    }
    const core::UnixMicros next = start_of(layout, time);
    const int64 wait_us = wait_us_for(next, limits, max_lead_us());
    if (wait_us > 0) {
      wait_for_clock(&draw, next, wait_us);
      continue;
    }
    const core::Grant grant = take_ids(draw, limits, next);
    if (grant.count > 0) return grant;
  }
}

void common_make_ready(const core::Layout& layout, CommonShard* common, core::Sequence start) {
  if (common->slot == nullptr) {
    // Before a crash, a database may have been ahead of the clock by max_lead. Bounded, because a
    // superuser may have raised it in one session, and callers must wait that long.
    const core::UnixMicros used{unix_now().value +
                                std::min(max_lead_us(), int64{kDefaultMaxWaitMs} * 1000)};
    const core::Time unused{std::min(time_at(layout, used), layout.max_time).value + 1};
    const SlotKey key{layout.spec, 0, InvalidOid};
    bool made;
    auto* slot = static_cast<Slot*>(table_find_or_make(slots, &key, &made));
    if (made)
      slot->last_tick.store(make_tick(layout, unused, start).value - 1, std::memory_order_relaxed);
    dshash_release_lock(slots.attached, slot);
    common->slot = slot;
  }
  const int64 floor_us = my_ceiling->floor_us.load(std::memory_order_acquire);
  // A floor ahead of the clock because of skipped times does not raise the common slot.
  const core::UnixMicros clock = unix_now();
  if (floor_us > clock.value && floor_us <= lead_from_now(clock).value) {
    common->floor_us = floor_us;
    return;
  }
  const core::Tick floor = last_tick_at(layout, {floor_us});
  if (common->slot->last_tick.load(std::memory_order_acquire) < floor.value) {
    // A private slot takes the first tick above the floor, and may have to wait or fail.
    Slot own{};
    const core::Time unused{time_of(layout, floor).value + 1};
    own.last_tick.store(make_tick(layout, unused, start).value - 1, std::memory_order_relaxed);
    const core::Tick above = issue(layout, {0}, &own, 1, core::Span::kAny).first;
    core::raise_to(common->slot->last_tick, {above.value - 1});
  }
  common->floor_us = floor_us;
}

}  // namespace snowid::pg
