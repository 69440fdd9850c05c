// Reading and raising the ceiling. See ceiling.hpp for what is locked in which order.
#include "pg/ids/ceiling.hpp"

#include "pg/base/locks.hpp"
#include "pg/ids/ceiling_page.hpp"
#include "pg/ids/closing.hpp"
#include "pg/ids/earlier_storage.hpp"
#include "pg/ids/events.hpp"
#include "pg/ids/settings.hpp"
#include "pg/ids/slots.hpp"
#include "pg/ids/warnings.hpp"
#include "pg/ids/wild.hpp"
#include "pg/server/extension.hpp"
#include "pg/server/invalidation.hpp"

namespace snowid::pg {

bool ceiling_known = false;

namespace {

constexpr char kCeilingName[] = "ceiling";

// The sequence that this session uses, InvalidOid before it has looked.
Oid ceiling_relid = InvalidOid;

// The start of the parallel statement in which this process has last looked at the sequence, 0
// where it was in none.
TimestampTz looked_in = 0;

// The sequence may be another one, or have other storage. relid: InvalidOid for all relations.
void forget_ceiling(Oid relid) {
  if (relid == ceiling_relid || relid == InvalidOid) ceiling_known = false;
}

Oid look_up_ceiling() {
  const Oid relid = extension_relation(kCeilingName);
  if (!OidIsValid(relid))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence \"%s.%s\" of extension \"%s\" does not exist", kOwnSchemaName,
                           kCeilingName, kExtensionName),
                    errhint("Create the extension with CREATE EXTENSION %s.", kExtensionName)));
  return relid;
}

// Opens the sequence in RowExclusiveLock. Returns nullptr only with kEarly, where the lock is not
// to be had at once.
Relation open_ceiling(Urgency urgency) {
  Relation relation = nullptr;
  while (relation == nullptr) {
    if (!OidIsValid(ceiling_relid)) ceiling_relid = look_up_ceiling();
    if (urgency == Urgency::kMust)
      LockRelationOid(ceiling_relid, RowExclusiveLock);
    else if (!ConditionalLockRelationOid(ceiling_relid, RowExclusiveLock))
      return nullptr;
    relation = try_relation_open(ceiling_relid, NoLock);
    if (relation == nullptr) {
      UnlockRelationOid(ceiling_relid, RowExclusiveLock);
      ceiling_relid = InvalidOid;
    }
  }
  if (relation->rd_rel->relkind != RELKIND_SEQUENCE ||
      relation->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("relation \"%s.%s\" is not a permanent sequence", kOwnSchemaName, kCeilingName),
             errdetail("IDs could repeat after a crash."),
             errhint("Make it permanent with ALTER SEQUENCE %s.%s SET LOGGED.", kOwnSchemaName,
                     kCeilingName)));
  return relation;
}

// Whether `relation` is the sequence that the ceiling is durable in. Needs my_database->lock.
bool is_durable_in(Relation relation) {
  AssertHoldsExclusively(my_database->lock);
  return my_database->relation == RelationGetRelid(relation) &&
         my_database->file == file_of(relation);
}

// Whether this transaction has made the sequence or its storage, so that no other session sees
// them, and none will if it rolls back. (Or has changed something else about it, which does no
// harm.)
bool is_made_here(Relation relation) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(RelationGetRelid(relation)));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for relation %u", relation->rd_id);
  const bool is_made_here =
      TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data));
  ReleaseSysCache(row);
  return is_made_here;
}

// Whether the sequence says what this server has written last. Needs my_database->lock.
bool is_as_written(Relation relation) {
  AssertHoldsExclusively(my_database->lock);
  return sequence_last(relation) == my_database->written_us / 1000;
}

// Has the shared entry know the wild times that a page has, unless it knows some: then they are
// these. Needs my_database->lock.
void learn_wild(const core::WildTimes& wild) {
  AssertHoldsExclusively(my_database->lock);
  if (wild.count == 0 || shared_database->has_wild.load(std::memory_order_acquire)) return;
  if (HasStandIn()) LWLockAcquire(&shared_database->lock, LW_EXCLUSIVE);
  if (!shared_database->has_wild.load(std::memory_order_relaxed)) {
    shared_database->wild = wild;
    shared_database->has_wild.store(true, std::memory_order_release);
  }
  if (HasStandIn()) LWLockRelease(&shared_database->lock);
}

// Raises the sequence's value to `target`, unless it is there, and returns what it was before. Sets
// *lsn to the end of the WAL record, which is not flushed yet, or to InvalidXLogRecPtr. Needs
// my_database->lock.
core::UnixMillis raise_sequence(Relation relation, core::UnixMillis target, XLogRecPtr* lsn) {
  AssertHoldsExclusively(my_database->lock);
  const CeilingPage page = ceiling_page_lock(relation);
  const CeilingKept kept = ceiling_page_read(page);
  const core::UnixMillis before = kept.ceiling;
  // Who only looks raises nothing, but puts right what a setval has set back.
  const bool is_to_be_raised = before < target || (before == target && !kept.are_alike);
  // What somebody else has set need not be durable.
  const bool is_to_be_logged = before == target && !is_durable_in(relation);
  *lsn = is_to_be_raised || is_to_be_logged
             ? ceiling_page_set(page, std::max(before, target), WildTimesNow())
             : InvalidXLogRecPtr;
  ceiling_page_unlock(page);
  learn_wild(kept.wild);
  return before;
}

// Whether it was a parallel worker of this transaction, or its leader, who has raised a sequence
// that only the transaction can see: while they run nobody can call setval. (A client's message may
// hold a setval between two statements that run in parallel; it is taken for such a raise.)
bool is_raised_by_worker(Relation relation) {
  return HasStandIn() && is_durable_in(relation) && IsInParallelMode() &&
         looked_in == GetCurrentStatementStartTimestamp();
}

// Raises what this transaction, which has a stand-in, goes back to if it is rolled back. Whoever
// draws then is not to take that for somebody's setval: the shared slots know what was issued.
void cover_rollback(Relation relation, core::UnixMillis target) {
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  const KnownCeiling known{shared_database->relation, shared_database->file};
  LWLockRelease(&shared_database->lock);
  // Without that lock, since catalogs are read. Nobody else can raise what is known meanwhile.
  const RaisedStorage raised = raise_earlier_storage(relation, known, target);
  learn_wild(raised.wild);
  if (!XLogRecPtrIsInvalid(raised.known)) {
    LWLockAcquire(&shared_database->lock, LW_EXCLUSIVE);
    shared_database->written_us = std::max(shared_database->written_us, target.value * 1000);
    shared_database->written_lsn = std::max(shared_database->written_lsn, raised.known);
    LWLockRelease(&shared_database->lock);
  }
  if (!XLogRecPtrIsInvalid(raised.last)) my_database->written_lsn = raised.last;
}

// The end of the record of what others know the sequence to hold. This transaction, which has a
// stand-in, began with that, or a worker of it has raised it, and it need not be durable yet.
XLogRecPtr shared_written_lsn() {
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  const XLogRecPtr lsn = shared_database->written_lsn;
  LWLockRelease(&shared_database->lock);
  return lsn;
}

// Writes a ceiling of `target` at least to the sequence. It counts for nothing before publish().
// Needs my_database->lock.
void write(Relation relation, core::UnixMillis target) {
  AssertHoldsExclusively(my_database->lock);
  const core::UnixMillis known{my_database->written_us / 1000};
  XLogRecPtr lsn;
  // Before this transaction's own, whose record then is the later one. Who only looks issues no IDs
  // above what is there.
  // But the wild times of that storage must be known, which this one has not.
  const bool is_wild_known = shared_database->has_wild.load(std::memory_order_acquire);
  if (HasStandIn() && (target.value > 0 || !is_wild_known)) cover_rollback(relation, target);
  target = std::max(target, known);
  const core::UnixMillis before = raise_sequence(relation, target, &lsn);
  // The sequence says more than this server has raised it to: the server has started, or a dump was
  // restored, or somebody called setval. All times up to there may be in use.
  if (before > known && !is_raised_by_worker(relation)) lift_slots(MicrosOf(before));

  my_database->written_us = std::max(before, target).value * 1000;
  // Invalid where wal_level is minimal and this transaction made the sequence: the commit syncs it.
  if (!XLogRecPtrIsInvalid(lsn)) my_database->written_lsn = lsn;
  // Last, since a worker raises what others know before it raises what was found here.
  if (HasStandIn())
    my_database->written_lsn = std::max(my_database->written_lsn, shared_written_lsn());
}

// Whether the sequence holds more than the ceiling in memory. Needs my_database->lock.
bool is_written_ahead() {
  AssertHoldsExclusively(my_database->lock);
  return my_database->written_us > my_database->ceiling_us.load(std::memory_order_relaxed);
}

// Stores where IDs are to ask for more: before wild times, too, and at once where this database may
// issue none. Needs my_database->lock.
void store_alert(int64 alert_us) {
  AssertHoldsExclusively(my_database->lock);
  if (!my_database->may_issue.load(std::memory_order_relaxed)) alert_us = 0;
  const core::UnixMicros end = UnliftedUntil(WildTimesNow(), SharedFloor());
  my_database->alert_us.store(std::min(alert_us, end.value), std::memory_order_release);
}

// Makes what was written durable, and then the ceiling in memory. Needs my_database->lock, but lets
// go of it while it waits for a synchronous standby. If that wait fails, the ceiling in memory
// stays as it was, and the next to publish waits for the same record.
void publish(Relation relation) {
  AssertHoldsExclusively(my_database->lock);
  const int64 ceiling_us = my_database->written_us;
  const XLogRecPtr lsn = my_database->written_lsn;
  if (!XLogRecPtrIsInvalid(lsn)) {
    instr_time since;
    INSTR_TIME_SET_CURRENT(since);
    const bool is_to_wait = !sequence_is_durable(lsn);
    XLogFlush(lsn);
    LWLockRelease(&my_database->lock);
    sequence_make_durable(lsn);
    LWLockAcquire(&my_database->lock, LW_EXCLUSIVE);
    if (is_to_wait) NoteFlush(since);
  }
  my_database->relation = RelationGetRelid(relation);
  my_database->file = file_of(relation);
  if (ceiling_us < my_database->ceiling_us.load(std::memory_order_relaxed)) return;
  if (ceiling_us > my_database->ceiling_us.load(std::memory_order_relaxed)) NoteRaise();
  my_database->ceiling_us.store(ceiling_us, std::memory_order_release);
  store_alert(ceiling_us - ceiling_step_us() / 2);
}

// Says where IDs are to ask for more. Needs my_database->lock. moment, wish: what was asked for
// now.
void set_alert(core::UnixMicros moment, core::CeilingWish wish) {
  AssertHoldsExclusively(my_database->lock);
  const int64 ceiling_us = my_database->ceiling_us.load(std::memory_order_relaxed);
  // What was written ahead is to be published before the ceiling is reached.
  const int64 alert_us = is_written_ahead() ? std::min(next_alert_us(moment), ceiling_us)
                                            : ceiling_us - (wish.enough.value - moment.value);
  store_alert(alert_us);
}

// 25006 during recovery. A standby's transactions are read-only, but some extensions have them pass
// for others.
void require_no_recovery() {
  if (RecoveryInProgress())
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                    errmsg("cannot issue IDs during recovery")));
}

// Opens the sequence, has `my_database` be what goes with it, and takes its lock. Returns nullptr
// as open_ceiling() does, with no lock taken. Fails as require_no_recovery() does.
Relation lock_ceiling(Urgency urgency) {
  require_no_recovery();
  Relation relation = open_ceiling(urgency);
  if (relation == nullptr) return nullptr;
  second_page_extend(relation);
  database_stand_in(is_made_here(relation));
  LWLockAcquire(&my_database->lock, LW_EXCLUSIVE);
  return relation;
}

void unlock_ceiling(Relation relation) {
  LWLockRelease(&my_database->lock);
  relation_close(relation, RowExclusiveLock);
  log_slow_flush();
}

// Whether a row of pg_class is, as the shared entry has it, that of the sequence that the ceiling
// is durable in, and the sequence says what this server has written last. Whether it is still the
// extension's is not asked: only a superuser can take it away, and then it goes on to hold the
// ceiling until ceiling_carry_over().
bool is_as_shared(HeapTuple row) {
  auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  if (TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data)) ||
      form->relkind != RELKIND_SEQUENCE || form->relpersistence != RELPERSISTENCE_PERMANENT ||
      strcmp(NameStr(form->relname), kCeilingName) != 0)
    return false;
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  bool is_same =
      shared_database->relation == form->oid && shared_database->file == form->relfilenode;
  if (is_same) {
    const SequencePage page = sequence_page_lock_of(form, nullptr);
    is_same = SequencePageValue(page).last == shared_database->written_us / 1000;
    sequence_page_unlock(page);
  }
  LWLockRelease(&shared_database->lock);
  return is_same;
}

// Makes the ceiling known where nothing has changed since another session has learned it. That
// takes one row of a catalog, where to look the extension's sequence up and to open it takes a
// dozen, and most of what a session's first ID costs.
void recognize_ceiling() {
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  const Oid relid = shared_database->relation;
  LWLockRelease(&shared_database->lock);
  if (!OidIsValid(relid)) return;
  // While it is locked nobody can replace the sequence; invalidations from now on are news.
  LockRelationOid(relid, RowExclusiveLock);
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (HeapTupleIsValid(row)) {
    ceiling_known = is_as_shared(row);
    ReleaseSysCache(row);
  }
  if (ceiling_known) {
    ceiling_relid = relid;
    database_stand_in(false);
  }
  UnlockRelationOid(relid, RowExclusiveLock);
}

// Makes sure that the ceiling in memory is durable in the extension's sequence, and that it is
// known, unless this transaction has made the sequence.
void look_at_ceiling() {
  Relation relation = lock_ceiling(Urgency::kMust);
  if (!is_durable_in(relation) || !is_as_written(relation)) {
    write(relation, {0});
    publish(relation);
  }
  // As in recognize_ceiling(). But a transaction that has made the sequence, a restore for one, may
  // yet set it: it looks again for each ID. Of its workers each has to do with one statement.
  ceiling_known = !HasStandIn() || IsParallelWorker();
  looked_in = IsInParallelMode() ? GetCurrentStatementStartTimestamp() : 0;
  unlock_ceiling(relation);
}

// Attaches to the shared state, and has this session told of changes.
void attach() {
  static bool is_subscribed = false;
  if (!is_subscribed) {
    invalidation_subscribe(forget_ceiling);
    is_subscribed = true;
  }
  require_no_recovery();
  slots_attach();
  if (database_is_doubtful()) {
    closed_shards.close();
    database_confirm();
  }
}

}  // namespace

void ceiling_learn() {
  attach();
  recognize_ceiling();
  if (ceiling_known) return;
  // Whoever is the first to learn it makes the table, too, that is needed once a year.
  warnings_attach();
  look_at_ceiling();
}

void ceiling_carry_over() {
  attach();
  warnings_attach();
  ceiling_relid = InvalidOid;
  look_at_ceiling();
}

void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency) {
  Relation relation = lock_ceiling(urgency);
  if (relation == nullptr) return;
  const bool is_replaced = !is_durable_in(relation);
  // Who was here before has written ahead, and a commit or the WAL writer has flushed that since.
  const bool was_ahead = !is_replaced && is_written_ahead();
  if (was_ahead && sequence_is_durable(my_database->written_lsn)) publish(relation);
  const core::UnixMicros known{my_database->written_us};
  const bool is_low = known < wish.enough;
  const core::UnixMillis target = RoundUp(wish.target);
  if (is_replaced || moment.value > my_database->ceiling_us.load(std::memory_order_relaxed)) {
    if (is_replaced || is_low) write(relation, target);
    publish(relation);
  } else if (!is_written_ahead()) {
    // Need wait for no disk and no standby: the next commit takes it along.
    if (is_low) write(relation, target);
  } else if (was_ahead) {
    // Nobody has committed for a while.
    XLogSetAsyncXactLSN(my_database->written_lsn);
  }
  set_alert(moment, wish);
  unlock_ceiling(relation);
}

void ceiling_cover(core::UnixMicros moment) {
  Relation relation = lock_ceiling(Urgency::kMust);
  write(relation, RoundUp(moment));
  publish(relation);
  unlock_ceiling(relation);
}

void ceiling_lift(core::UnixMicros moment) {
  Relation relation = lock_ceiling(Urgency::kMust);
  const core::UnixMillis target = RoundUp(moment);
  write(relation, target);
  lift_everywhere(MicrosOf(target));
  publish(relation);
  unlock_ceiling(relation);
}

XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::WildTimes& wild) {
  AssertHasSharedObjectLock(DatabaseRelationId, MyDatabaseId, AccessExclusiveLock);
  Relation relation = lock_ceiling(Urgency::kMust);
  Assert(is_durable_in(relation));
  const core::UnixMillis target = RoundUp(moment);
  const CeilingPage page = ceiling_page_lock(relation);
  const XLogRecPtr lsn = ceiling_page_replace(page, target, wild);
  ceiling_page_unlock(page);
  my_database->wild = wild;
  my_database->has_wild.store(wild.count > 0, std::memory_order_release);
  my_database->written_us = MicrosOf(target).value;
  // What is durable already. Above it the next ID waits for the record of before, which said as
  // much or more, or for one of its own.
  const int64 durable_us = my_database->ceiling_us.load(std::memory_order_relaxed);
  my_database->ceiling_us.store(std::min(durable_us, MicrosOf(target).value),
                                std::memory_order_release);
  // The next ID asks, also where wild times have come and nothing is lower.
  my_database->alert_us.store(0, std::memory_order_release);
  unlock_ceiling(relation);
  return lsn;
}

void ceiling_hold() {
  Relation relation = lock_ceiling(Urgency::kMust);
  LWLockRelease(&my_database->lock);
  relation_close(relation, NoLock);
}

CeilingKept ceiling_read() {
  Relation relation = open_ceiling(Urgency::kMust);
  const CeilingPage page = ceiling_page_lock(relation);
  const CeilingKept kept = ceiling_page_read(page);
  ceiling_page_unlock(page);
  relation_close(relation, RowExclusiveLock);
  return kept;
}

}  // namespace snowid::pg
