// In this order: locking, writing, publishing (storing in shared memory once durable), learning,
// and raising the ceiling; its SQL functions.
#include "pg/ceiling/ceiling.hpp"

#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"
}

namespace snowid::pg {

int ceiling_step_ms = 1000;
bool ceiling_known = false;

namespace {

// The ceiling of a transaction that created the sequence.
Ceiling own_ceiling;

// The duration of this session's last flush of a ceiling; 0 if already logged.
int64 last_flush_us = 0;

struct LockedCeiling {
  Relation relation;  // nullptr if not locked
  // The part that counts of the sequence's own page, which setval and subscriptions can set.
  core::UnixMillis most;
};

// Raises: 55000. A rollback would return to a ceiling below the IDs shown.
[[noreturn]] void report_altered() {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("cannot generate IDs in a transaction that has altered or dropped sequence "
                 "\"%s.%s\"",
                 kInternalSchemaName, kCeilingName),
          errdetail("If the transaction is rolled back, IDs it returned could be issued again."),
          errhint("Commit the transaction, or roll it back."));
}

// Selects the transaction-local copy, or the shared ceiling. Requires: neither is locked.
void use_own_ceiling(bool wanted) {
  Ceiling* shared = &shared_database->ceiling;
  if (wanted && !has_own_ceiling()) {
    LWLockInitialize(&own_ceiling.lock, tranche_of(Tranche::kCeiling));
    own_ceiling.relation = InvalidOid;
    own_ceiling.file = 0;
    LWLockAcquire(&shared->lock, LW_SHARED);
    own_ceiling.written_us = shared->written_us;
    LWLockRelease(&shared->lock);
    own_ceiling.written_lsn = InvalidXLogRecPtr;
    own_ceiling.ceiling_us = shared->ceiling_us.load(std::memory_order_acquire);
    own_ceiling.alert_us = shared->alert_us.load(std::memory_order_acquire);
    own_ceiling.floor_us = shared->floor_us.load(std::memory_order_acquire);
  }
  my_ceiling = wanted ? &own_ceiling : shared;
}

// Opens the sequence, selects this transaction's ceiling, and locks it; with kEarly, nothing if the
// relation's lock is not free. Raises: as open_ceiling(); 55000 if this transaction replaced the
// sequence's storage.
LockedCeiling lock_ceiling(Urgency urgency) {
  constexpr core::UnixMillis kAll{PG_INT64_MAX};
  Relation relation = open_ceiling(urgency);
  if (relation == nullptr) return {};
  if (has_new_storage(relation)) report_altered();
  // Other sessions do not see a sequence created by this transaction.
  use_own_ceiling(relation->rd_createSubid != InvalidSubTransactionId);
  second_page_extend(relation);
  // Before locking, because it reads a catalog. A subscription exists before it sets the sequence.
  const core::UnixMillis most = is_set_by_subscription(relation)
                                    ? core::round_up({unix_now().value + core::kClocksDifferUs})
                                    : kAll;
  LWLockAcquire(&my_ceiling->lock, LW_EXCLUSIVE);
  return {relation, most};
}

void unlock_ceiling(const LockedCeiling& locked) {
  LWLockRelease(&my_ceiling->lock);
  relation_close(locked.relation, RowExclusiveLock);
  const int64 took_us = last_flush_us;
  last_flush_us = 0;
  if (took_us >= kLongWaitUs && may_log(&shared_database->logged_us[kLoggedFlush]))
    ereport(LOG_SERVER_ONLY, errmsg("raising the ceiling of IDs took %s", span_text(took_us)),
            errdetail("Its WAL record took this long to be flushed on this server and on "
                      "synchronous standbys."));
}

// Whether the ceiling in memory is durable in this sequence and storage.
bool is_durable_in(Relation relation) {
  assert_holds_exclusively(my_ceiling->lock);
  return my_ceiling->relation == RelationGetRelid(relation) &&
         my_ceiling->file == file_of(relation);
}

// Copies a page's skipped times to the database's entry, unless the entry has them.
void learn_skipped_times(const core::SkippedTimes& stored) {
  SharedSkippedTimes* shared = &shared_database->skipped;
  assert_holds_exclusively(my_ceiling->lock);
  if (stored.count == 0 || shared->has_any.load(std::memory_order_acquire)) return;
  // A sequence created by this transaction has those of memory.
  Assert(!has_own_ceiling());
  shared->times = stored;
  shared->has_any.store(true, std::memory_order_release);
}

void lift_slots_to(core::UnixMicros floor) {
  assert_holds_exclusively(my_ceiling->lock);
  // Stored before slots are scanned: a slot created meanwhile sees it.
  raise_time(&my_ceiling->floor_us, floor.value);
  lift_slots(floor);
}

// Writes a ceiling of at least `target`, for publish_ceiling(). Lifts slots if the sequence holds
// more than this server wrote. Raises: 0A000 if the second page has another version.
void write_ceiling(const LockedCeiling& locked, core::UnixMillis target) {
  assert_holds_exclusively(my_ceiling->lock);
  const core::UnixMillis known{my_ceiling->written_us / 1000};
  target = std::max(target, known);
  const CeilingPages pages = lock_pages(locked.relation);
  const StoredCeiling found = read_pages(pages);
  const core::UnixMillis before = core::set_ceiling(found.ceiling, found.own, locked.most);
  // Target 0 only corrects a ceiling lowered by setval, or raised by another server too far.
  const bool is_to_be_raised =
      before < target || (before == target && !found.are_alike) || before < found.ceiling;
  // A value set from outside need not be durable.
  const bool is_to_be_logged = before == target && !is_durable_in(locked.relation);
  XLogRecPtr lsn = InvalidXLogRecPtr;
  if (is_to_be_raised || is_to_be_logged)
    lsn = store_on_pages(pages, std::max(before, target),
                         found.skipped.count > 0 ? found.skipped : skipped_times());
  unlock_pages(pages);
  learn_skipped_times(found.skipped);
  // The server started, a dump was restored, or setval was called: these times may be used.
  if (before > known) lift_slots_to(micros_of(before));
  my_ceiling->written_us = micros_of(std::max(before, target)).value;
  // Invalid if wal_level is minimal and this transaction created the sequence: commit syncs it.
  if (!XLogRecPtrIsInvalid(lsn)) my_ceiling->written_lsn = lsn;
}

// Stores the alert: at most last_alert(), and 0 until it is known that IDs may be issued.
void store_alert(int64 alert_us) {
  assert_holds_exclusively(my_ceiling->lock);
  if (!shared_database->may_issue.load(std::memory_order_relaxed)) alert_us = 0;
  my_ceiling->alert_us.store(std::min(alert_us, last_alert().value), std::memory_order_release);
}

// Makes the written ceiling durable and publishes it. Releases the lock during a wait for a
// synchronous standby. If that fails, the published ceiling is unchanged, and the next session
// waits for the same record. Raises: 57014 if the wait is canceled.
void publish_ceiling(Relation relation) {
  Ceiling* ceiling = my_ceiling;
  assert_holds_exclusively(ceiling->lock);
  const int64 ceiling_us = ceiling->written_us;
  const XLogRecPtr lsn = ceiling->written_lsn;
  if (!XLogRecPtrIsInvalid(lsn)) {
    instr_time since;
    INSTR_TIME_SET_CURRENT(since);
    const bool is_to_wait = !sequence_is_durable(lsn);
    // Under the lock: processes waiting for it need not flush. Standbys are waited for without it.
    XLogFlush(lsn);
    LWLockRelease(&ceiling->lock);
    sequence_make_durable(lsn);
    LWLockAcquire(&ceiling->lock, LW_EXCLUSIVE);
    if (is_to_wait) {
      last_flush_us = elapsed_us(since);
      tally(kFlushes);
      tally(kFlushUs, last_flush_us);
    }
  }
  ceiling->relation = RelationGetRelid(relation);
  ceiling->file = file_of(relation);
  const int64 before_us = ceiling->ceiling_us.load(std::memory_order_relaxed);
  if (ceiling_us < before_us) return;
  if (ceiling_us > before_us) tally(kRaises);
  ceiling->ceiling_us.store(ceiling_us, std::memory_order_release);
  store_alert(ceiling_us - ceiling_step_us() / 2);
}

Oid shared_relid() {
  Ceiling* shared = &shared_database->ceiling;
  LWLockAcquire(&shared->lock, LW_SHARED);
  const Oid relid = shared->relation;
  LWLockRelease(&shared->lock);
  return relid;
}

// Whether a row of pg_class is that of the shared ceiling's sequence, with the value last written
// by this server. Membership in the extension is not checked: only a superuser can remove the
// sequence from it, and then it keeps the ceiling until carry_ceiling_over().
bool is_as_shared(HeapTuple row) {
  Ceiling* shared = &shared_database->ceiling;
  auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  if (form->relkind != RELKIND_SEQUENCE || form->relpersistence != RELPERSISTENCE_PERMANENT ||
      strcmp(NameStr(form->relname), kCeilingName) != 0)
    return false;
  LWLockAcquire(&shared->lock, LW_SHARED);
  bool is_same = shared->relation == form->oid && shared->file == form->relfilenode;
  if (is_same) {
    const SequencePage page = sequence_page_lock_of(form);
    is_same = sequence_page_value(page.buffer).last == shared->written_us / 1000;
    sequence_page_unlock(page);
  }
  LWLockRelease(&shared->lock);
  return is_same;
}

// Sets `ceiling_known` if nothing changed since another session learned the ceiling. Reads one
// catalog row; opening the sequence reads a dozen, most of the cost of a session's first ID.
void recognize_ceiling() {
  const Oid relid = shared_relid();
  if (!OidIsValid(relid)) return;
  // Under this lock the sequence cannot be replaced. Later invalidations reset ceiling_known.
  LockRelationOid(relid, RowExclusiveLock);
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (HeapTupleIsValid(row)) {
    ceiling_known = is_as_shared(row);
    ReleaseSysCache(row);
  }
  if (ceiling_known) {
    ceiling_relid = relid;
    use_own_ceiling(false);
  }
  UnlockRelationOid(relid, RowExclusiveLock);
}

// Whether this transaction, which created the sequence, dropped the shared ceiling's.
bool has_dropped_shared() {
  const Oid relid = shared_relid();
  LOCKTAG tag;
  SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
  return OidIsValid(relid) && has_lock(tag, AccessExclusiveLock);
}

// Makes the ceiling in memory durable in the extension's sequence, and sets `ceiling_known`, unless
// this transaction created it: setval may follow. Raises: as ceiling_learn().
void look_at_ceiling() {
  const LockedCeiling locked = lock_ceiling(Urgency::kMust);
  if (!is_durable_in(locked.relation) ||
      sequence_value(locked.relation).last != my_ceiling->written_us / 1000) {
    write_ceiling(locked, {0});
    publish_ceiling(locked.relation);
  }
  ceiling_known = !has_own_ceiling();
  unlock_ceiling(locked);
}

}  // namespace

bool has_own_ceiling() noexcept { return my_ceiling == &own_ceiling; }

void require_can_issue() {
  // A standby's transactions are read-only, but some extensions make them appear writable.
  if (RecoveryInProgress())
    ereport(ERROR, errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
            errmsg("cannot issue IDs during recovery"));
  // A worker may merge two equal calls.
  if (IsParallelWorker())
    ereport(ERROR, errcode(ERRCODE_INVALID_TRANSACTION_STATE),
            errmsg("cannot generate IDs in a parallel worker"),
            errhint("Mark the calling function PARALLEL UNSAFE."));
}

void ceiling_learn() {
  recognize_ceiling();
  if (ceiling_known) return;
  look_at_ceiling();
  if (has_own_ceiling() && has_dropped_shared()) report_altered();
}

void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency) {
  const LockedCeiling locked = lock_ceiling(urgency);
  if (locked.relation == nullptr) return;
  Ceiling* ceiling = my_ceiling;
  const bool is_replaced = !is_durable_in(locked.relation);
  // A commit or the WAL writer may have flushed another session's write ahead.
  const bool was_ahead =
      !is_replaced && ceiling->written_us > ceiling->ceiling_us.load(std::memory_order_relaxed);
  if (was_ahead && sequence_is_durable(ceiling->written_lsn)) publish_ceiling(locked.relation);
  const core::RaiseStep step = step_of(moment, wish,
                                       {is_replaced,
                                        was_ahead,
                                        {ceiling->written_us},
                                        {ceiling->ceiling_us.load(std::memory_order_relaxed)}});
  if (step == core::RaiseStep::kWrite || step == core::RaiseStep::kWriteAndPublish)
    write_ceiling(locked, round_up(wish.target));
  if (step == core::RaiseStep::kPublish || step == core::RaiseStep::kWriteAndPublish)
    publish_ceiling(locked.relation);
  if (step == core::RaiseStep::kNudge) XLogSetAsyncXactLSN(ceiling->written_lsn);
  const core::UnixMicros published{ceiling->ceiling_us.load(std::memory_order_relaxed)};
  store_alert(
      alert_of(moment, {next_alert_us(moment)}, wish, {ceiling->written_us}, published).value);
  unlock_ceiling(locked);
}

void ceiling_cover(core::UnixMicros moment) {
  const LockedCeiling locked = lock_ceiling(Urgency::kMust);
  write_ceiling(locked, round_up(moment));
  publish_ceiling(locked.relation);
  unlock_ceiling(locked);
}

void ceiling_lift(core::UnixMicros moment) {
  const LockedCeiling locked = lock_ceiling(Urgency::kMust);
  const core::UnixMillis target = round_up(moment);
  write_ceiling(locked, target);
  lift_slots_to(micros_of(target));
  publish_ceiling(locked.relation);
  unlock_ceiling(locked);
}

XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::SkippedTimes& skipped) {
  assert_has_object_lock(DatabaseRelationId, MyDatabaseId, AccessExclusiveLock, InvalidOid);
  const LockedCeiling locked = lock_ceiling(Urgency::kMust);
  Ceiling* ceiling = my_ceiling;
  SharedSkippedTimes* shared = &shared_database->skipped;
  Assert(!has_own_ceiling() && is_durable_in(locked.relation));
  const core::UnixMillis target = round_up(moment);
  const CeilingPages pages = lock_pages(locked.relation);
  const XLogRecPtr lsn = store_on_pages(pages, target, skipped);
  unlock_pages(pages);
  shared->times = skipped;
  shared->has_any.store(skipped.count > 0, std::memory_order_release);
  ceiling->written_us = micros_of(target).value;
  // At most the durable one. A greater ID waits for the previous record, which held as much.
  const int64 durable_us = ceiling->ceiling_us.load(std::memory_order_relaxed);
  ceiling->ceiling_us.store(std::min(durable_us, micros_of(target).value),
                            std::memory_order_release);
  // Forces the next ID to the slow path, even with a ceiling that is no lower.
  ceiling->alert_us.store(0, std::memory_order_release);
  unlock_ceiling(locked);
  return lsn;
}

void ceiling_hold() { relation_close(open_ceiling(Urgency::kMust), NoLock); }

void on_relcache_ceiling(Oid relid) {
  if (relid == ceiling_relid || relid == InvalidOid) ceiling_known = false;
}

void ceiling_register() {
  DefineCustomIntVariable(
      "snowid.ceiling_step", "Sets how far ahead the ceiling is raised.",
      "When IDs are generated rarely, the step is 2.4 times as long, at most 5 seconds. After a "
      "server start, IDs continue above the ceiling: the first caller may wait that long.",
      &ceiling_step_ms, 1000, 10, 5000, PGC_SIGHUP, GUC_UNIT_MS, nullptr, nullptr, nullptr);
}

// This transaction may have dropped the previous sequence.
SNOWID_FUNCTION(snowid_carry_ceiling_over) {
  require_can_issue();
  slots_attach();
  ceiling_relid = InvalidOid;
  look_at_ceiling();
  shared_number_change_with_transaction();
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_ceiling) {
  PG_RETURN_TIMESTAMPTZ(to_timestamptz(micros_of(ceiling_read().ceiling)));
}

}  // namespace snowid::pg
