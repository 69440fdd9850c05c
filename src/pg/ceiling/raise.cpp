// Raising the ceiling. See raise.hpp.
#include "pg/ceiling/raise.hpp"

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/ceiling/held.hpp"
#include "pg/ceiling/publish.hpp"
#include "pg/debug.hpp"

namespace snowid::pg {

namespace {

// The state of the ceiling, after publishing what was written ahead and is durable by now.
core::CeilingFound find_ceiling(const HeldCeiling& held) {
  const Ceiling* ceiling = held.ceiling;
  const bool is_replaced = !is_durable_in(held);
  // Where a session has written ahead, a commit or the WAL writer may have flushed that since.
  const bool was_ahead = !is_replaced && is_written_ahead(held);
  if (was_ahead && sequence_is_durable(ceiling->written_lsn)) publish_ceiling(held);
  return {is_replaced,
          was_ahead,
          {ceiling->written_us},
          {ceiling->ceiling_us.load(std::memory_order_relaxed)}};
}

}  // namespace

void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency) {
  const HeldCeiling held = lock_ceiling(urgency);
  if (held.relation == nullptr) return;
  const Ceiling* ceiling = held.ceiling;
  const core::RaiseStep step = step_of(moment, wish, find_ceiling(held));
  if (step == core::RaiseStep::kWrite || step == core::RaiseStep::kWriteAndPublish)
    write_ceiling(held, round_up(wish.target));
  if (step == core::RaiseStep::kPublish || step == core::RaiseStep::kWriteAndPublish)
    publish_ceiling(held);
  if (step == core::RaiseStep::kNudge) XLogSetAsyncXactLSN(ceiling->written_lsn);
  const core::UnixMicros published{ceiling->ceiling_us.load(std::memory_order_relaxed)};
  store_alert(
      held,
      alert_of(moment, {next_alert_us(moment)}, wish, {ceiling->written_us}, published).value);
  unlock_ceiling(held);
}

void ceiling_cover(core::UnixMicros moment) {
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  write_ceiling(held, round_up(moment));
  publish_ceiling(held);
  unlock_ceiling(held);
}

void ceiling_lift(core::UnixMicros moment) {
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  const core::UnixMillis target = round_up(moment);
  write_ceiling(held, target);
  // The shared floor, too: a stand-in's is lost at the end of the transaction.
  raise_time(&shared_ceiling->floor_us, micros_of(target).value);
  lift_slots_to(held, micros_of(target));
  publish_ceiling(held);
  unlock_ceiling(held);
}

XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::WildTimes& wild) {
  assert_has_shared_object_lock(DatabaseRelationId, MyDatabaseId, AccessExclusiveLock);
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  Ceiling* ceiling = held.ceiling;
  Assert(!held.is_stand_in() && is_durable_in(held));
  const core::UnixMillis target = round_up(moment);
  const CeilingPage page = ceiling_page_lock(held.relation);
  const XLogRecPtr lsn = ceiling_page_replace(page, target, wild);
  ceiling_page_unlock(page);
  shared_wild->times = wild;
  shared_wild->has_any.store(wild.count > 0, std::memory_order_release);
  ceiling->written_us = micros_of(target).value;
  // No more than what is durable already. An ID above it waits for the previous record, which said
  // as much or more, or for one of its own.
  const int64 durable_us = ceiling->ceiling_us.load(std::memory_order_relaxed);
  ceiling->ceiling_us.store(std::min(durable_us, micros_of(target).value),
                            std::memory_order_release);
  // So that the next ID takes the slow path, also where wild times were added and the ceiling is no
  // lower.
  ceiling->alert_us.store(0, std::memory_order_release);
  unlock_ceiling(held);
  return lsn;
}

void ceiling_hold() {
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  LWLockRelease(&held.ceiling->lock);
  relation_close(held.relation, NoLock);
}

}  // namespace snowid::pg
