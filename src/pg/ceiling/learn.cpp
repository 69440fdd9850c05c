// Learning the ceiling. See learn.hpp.
#include "pg/ceiling/learn.hpp"

#include "pg/base/locks.hpp"
#include "pg/ceiling/held.hpp"
#include "pg/ceiling/publish.hpp"
#include "pg/server/invalidation.hpp"

namespace snowid::pg {

bool ceiling_known = false;

namespace {

// The sequence may be another one, or have other storage. relid: InvalidOid for all relations.
void forget_ceiling(Oid relid) {
  if (relid == ceiling_relid || relid == InvalidOid) ceiling_known = false;
}

// Whether the sequence says what this server has written last.
bool is_as_written(const HeldCeiling& held) {
  AssertHoldsExclusively(held.ceiling->lock);
  return sequence_last(held.relation) == held.ceiling->written_us / 1000;
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
  LWLockAcquire(&shared_ceiling->lock, LW_SHARED);
  bool is_same = shared_ceiling->relation == form->oid && shared_ceiling->file == form->relfilenode;
  if (is_same) {
    const SequencePage page = sequence_page_lock_of(form, nullptr);
    is_same = SequencePageValue(page).last == shared_ceiling->written_us / 1000;
    sequence_page_unlock(page);
  }
  LWLockRelease(&shared_ceiling->lock);
  return is_same;
}

// Makes the ceiling known where nothing has changed since another session has learned it. That
// takes one row of a catalog, where to look the extension's sequence up and to open it takes a
// dozen, and most of what a session's first ID costs.
void recognize_ceiling() {
  LWLockAcquire(&shared_ceiling->lock, LW_SHARED);
  const Oid relid = shared_ceiling->relation;
  LWLockRelease(&shared_ceiling->lock);
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
    use_stand_in(false);
  }
  UnlockRelationOid(relid, RowExclusiveLock);
}

// Makes sure that the ceiling in memory is durable in the extension's sequence, and that it is
// known, unless this transaction has made the sequence.
void look_at_ceiling() {
  Relation relation = open_ceiling(Urgency::kMust);
  use_stand_in(is_made_here(relation));
  const HeldCeiling held = lock_ceiling_in(relation);
  if (!is_durable_in(held) || !is_as_written(held)) {
    write_ceiling(held, {0});
    publish_ceiling(held);
  }
  // As in recognize_ceiling(). But a transaction that has made the sequence, a restore for one, may
  // yet set it: it looks again for each ID. Of its workers each has to do with one statement.
  ceiling_known = !held.IsStandIn() || IsParallelWorker();
  looked_in = IsInParallelMode() ? GetCurrentStatementStartTimestamp() : 0;
  unlock_ceiling(held);
}

// Attaches to the shared state, and has this session told of changes.
void attach_to_shared_state() {
  static bool is_subscribed = false;
  if (!is_subscribed) {
    invalidation_subscribe(forget_ceiling);
    is_subscribed = true;
  }
  require_no_recovery();
  ceiling_users.attach();
}

}  // namespace

void ceiling_learn() {
  attach_to_shared_state();
  recognize_ceiling();
  if (ceiling_known) return;
  ceiling_users.attach_rest();
  look_at_ceiling();
}

void ceiling_carry_over() {
  attach_to_shared_state();
  ceiling_users.attach_rest();
  ceiling_relid = InvalidOid;
  look_at_ceiling();
}

CeilingOnPages ceiling_read() {
  Relation relation = open_ceiling(Urgency::kMust);
  const CeilingPage page = ceiling_page_lock(relation);
  const CeilingOnPages found = ceiling_page_read(page);
  ceiling_page_unlock(page);
  relation_close(relation, RowExclusiveLock);
  return found;
}

}  // namespace snowid::pg
