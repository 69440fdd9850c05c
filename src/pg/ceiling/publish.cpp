// Writing and publishing the ceiling. See publish.hpp.
#include "pg/ceiling/publish.hpp"

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/ceiling/raises.hpp"
#include "pg/ceiling/settings.hpp"
#include "pg/ceiling/wild.hpp"
#include "pg/debug.hpp"

namespace snowid::pg {

namespace {

// Raises the sequence's value to `target`, unless it is there, and returns what it was before. Sets
// *lsn to the end of the WAL record, which is not flushed yet, or to InvalidXLogRecPtr.
core::UnixMillis raise_sequence(const HeldCeiling& held, core::UnixMillis target, XLogRecPtr* lsn) {
  assert_holds_exclusively(held.ceiling->lock);
  const CeilingPage page = ceiling_page_lock(held.relation);
  const CeilingOnPages found = ceiling_page_read(page);
  const core::UnixMillis before = core::set_ceiling(found.ceiling, found.own, held.most);
  // A caller that only looks has what this server has written as its target: that raises nothing,
  // but corrects what a setval has set back, or what another server has said that is not to count.
  const bool is_to_be_raised =
      before < target || (before == target && !found.are_alike) || before < found.ceiling;
  // A value that somebody else has set need not be durable.
  const bool is_to_be_logged = before == target && !is_durable_in(held);
  *lsn = is_to_be_raised || is_to_be_logged
             ? ceiling_page_set(page, std::max(before, target), wild_times_now())
             : InvalidXLogRecPtr;
  ceiling_page_unlock(page);
  learn_wild(held, found.wild);
  return before;
}

}  // namespace

void lift_slots_to(const HeldCeiling& held, core::UnixMicros floor) {
  assert_holds_exclusively(held.ceiling->lock);
  // Stored before slots are looked at: one that is made meanwhile sees the floor.
  raise_time(&held.ceiling->floor_us, floor.value);
  lift_slots(floor);
}

void write_ceiling(const HeldCeiling& held, core::UnixMillis target) {
  assert_holds_exclusively(held.ceiling->lock);
  const core::UnixMillis known{held.ceiling->written_us / 1000};
  XLogRecPtr lsn;
  target = std::max(target, known);
  const core::UnixMillis before = raise_sequence(held, target, &lsn);
  // The sequence holds more than this server has written to it: the server has started, or a dump
  // was restored, or somebody called setval. All times up to there may have been used.
  if (before > known) lift_slots_to(held, micros_of(before));

  held.ceiling->written_us = std::max(before, target).value * 1000;
  // Invalid where wal_level is minimal and this transaction made the sequence: the commit syncs it.
  if (!XLogRecPtrIsInvalid(lsn)) held.ceiling->written_lsn = lsn;
}

bool is_written_ahead(const HeldCeiling& held) {
  assert_holds_exclusively(held.ceiling->lock);
  return held.ceiling->written_us > held.ceiling->ceiling_us.load(std::memory_order_relaxed);
}

void store_alert(const HeldCeiling& held, int64 alert_us) {
  assert_holds_exclusively(held.ceiling->lock);
  if (!shared_database->may_issue.load(std::memory_order_relaxed)) alert_us = 0;
  held.ceiling->alert_us.store(std::min(alert_us, last_alert().value), std::memory_order_release);
}

void publish_ceiling(const HeldCeiling& held) {
  Ceiling* ceiling = held.ceiling;
  assert_holds_exclusively(ceiling->lock);
  const int64 ceiling_us = ceiling->written_us;
  const XLogRecPtr lsn = ceiling->written_lsn;
  if (!XLogRecPtrIsInvalid(lsn)) {
    instr_time since;
    INSTR_TIME_SET_CURRENT(since);
    const bool is_to_wait = !sequence_is_durable(lsn);
    // Flushed with the lock held, so that processes that wait for the lock find the WAL flushed and
    // do not flush it again. What follows without the lock waits only for standbys.
    XLogFlush(lsn);
    LWLockRelease(&ceiling->lock);
    sequence_make_durable(lsn);
    LWLockAcquire(&ceiling->lock, LW_EXCLUSIVE);
    if (is_to_wait) note_flush(since);
  }
  ceiling->relation = RelationGetRelid(held.relation);
  ceiling->file = file_of(held.relation);
  if (ceiling_us < ceiling->ceiling_us.load(std::memory_order_relaxed)) return;
  if (ceiling_us > ceiling->ceiling_us.load(std::memory_order_relaxed)) note_raise();
  ceiling->ceiling_us.store(ceiling_us, std::memory_order_release);
  store_alert(held, ceiling_us - ceiling_step_us() / 2);
}

}  // namespace snowid::pg
