// Raising the ceiling. See raise.hpp.
#include "pg/ceiling/raise.hpp"

#include "pg/base/locks.hpp"
#include "pg/ceiling/ceiling_page.hpp"
#include "pg/ceiling/held.hpp"
#include "pg/ceiling/publish.hpp"

namespace snowid::pg {

namespace {

// Says where IDs are to ask for more. moment, wish: what was asked for now.
void set_alert(const HeldCeiling& held, core::UnixMicros moment, core::CeilingWish wish) {
  AssertHoldsExclusively(held.ceiling->lock);
  const int64 ceiling_us = held.ceiling->ceiling_us.load(std::memory_order_relaxed);
  // What was written ahead is to be published before the ceiling is reached.
  const int64 alert_us = is_written_ahead(held) ? std::min(next_alert_us(moment), ceiling_us)
                                                : ceiling_us - (wish.enough.value - moment.value);
  store_alert(held, alert_us);
}

}  // namespace

void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency) {
  const HeldCeiling held = lock_ceiling(urgency);
  if (held.relation == nullptr) return;
  const bool is_replaced = !is_durable_in(held);
  // Who was here before has written ahead, and a commit or the WAL writer has flushed that since.
  const bool was_ahead = !is_replaced && is_written_ahead(held);
  if (was_ahead && sequence_is_durable(held.ceiling->written_lsn)) publish_ceiling(held);
  const core::UnixMicros known{held.ceiling->written_us};
  const bool is_low = known < wish.enough;
  const core::UnixMillis target = RoundUp(wish.target);
  if (is_replaced || moment.value > held.ceiling->ceiling_us.load(std::memory_order_relaxed)) {
    if (is_replaced || is_low) write_ceiling(held, target);
    publish_ceiling(held);
  } else if (!is_written_ahead(held)) {
    // Need wait for no disk and no standby: the next commit takes it along.
    if (is_low) write_ceiling(held, target);
  } else if (was_ahead) {
    // Nobody has committed for a while.
    XLogSetAsyncXactLSN(held.ceiling->written_lsn);
  }
  set_alert(held, moment, wish);
  unlock_ceiling(held);
}

void ceiling_cover(core::UnixMicros moment) {
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  write_ceiling(held, RoundUp(moment));
  publish_ceiling(held);
  unlock_ceiling(held);
}

void ceiling_lift(core::UnixMicros moment) {
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  const core::UnixMillis target = RoundUp(moment);
  write_ceiling(held, target);
  // The shared floor, too: what a stand-in knows goes with the transaction.
  RaiseTime(&shared_ceiling->floor_us, MicrosOf(target).value);
  lift_slots_to(held, MicrosOf(target));
  publish_ceiling(held);
  unlock_ceiling(held);
}

XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::WildTimes& wild) {
  AssertHasSharedObjectLock(DatabaseRelationId, MyDatabaseId, AccessExclusiveLock);
  const HeldCeiling held = lock_ceiling(Urgency::kMust);
  Ceiling* ceiling = held.ceiling;
  Assert(!held.IsStandIn() && is_durable_in(held));
  const core::UnixMillis target = RoundUp(moment);
  const CeilingPage page = ceiling_page_lock(held.relation);
  const XLogRecPtr lsn = ceiling_page_replace(page, target, wild);
  ceiling_page_unlock(page);
  shared_wild->times = wild;
  shared_wild->has_any.store(wild.count > 0, std::memory_order_release);
  ceiling->written_us = MicrosOf(target).value;
  // What is durable already. Above it the next ID waits for the record of before, which said as
  // much or more, or for one of its own.
  const int64 durable_us = ceiling->ceiling_us.load(std::memory_order_relaxed);
  ceiling->ceiling_us.store(std::min(durable_us, MicrosOf(target).value),
                            std::memory_order_release);
  // The next ID asks, also where wild times have come and nothing is lower.
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
