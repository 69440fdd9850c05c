// Learning the ceiling. See learn.hpp.
#include "pg/ceiling/learn.hpp"

#include "pg/catalog_table.hpp"
#include "pg/ceiling/held.hpp"
#include "pg/ceiling/publish.hpp"
#include "pg/debug.hpp"

namespace snowid::pg {

bool ceiling_known = false;

namespace {

// Whether the sequence says what this server has written last.
bool is_as_written(const HeldCeiling& held) {
  assert_holds_exclusively(held.ceiling->lock);
  return sequence_last(held.relation) == held.ceiling->written_us / 1000;
}

// Whether a row of pg_class is, as the shared entry has it, that of the sequence that the ceiling
// is durable in, and the sequence says what this server has written last. Whether it still belongs
// to the extension is not checked: only a superuser can remove it from the extension, and then it
// goes on to hold the ceiling until ceiling_carry_over().
bool is_as_shared(HeapTuple row) {
  auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  if (form->relkind != RELKIND_SEQUENCE || form->relpersistence != RELPERSISTENCE_PERMANENT ||
      strcmp(NameStr(form->relname), kCeilingName) != 0)
    return false;
  LWLockAcquire(&shared_ceiling->lock, LW_SHARED);
  bool is_same = shared_ceiling->relation == form->oid && shared_ceiling->file == form->relfilenode;
  if (is_same) {
    const SequencePage page = sequence_page_lock_of(form);
    is_same = sequence_page_value(page).last == shared_ceiling->written_us / 1000;
    sequence_page_unlock(page);
  }
  LWLockRelease(&shared_ceiling->lock);
  return is_same;
}

// Sets ceiling_known where nothing has changed since another session learned the ceiling. That
// reads one row of a catalog. Looking up and opening the extension's sequence reads a dozen, which
// would be most of the cost of a session's first ID.
void recognize_ceiling() {
  LWLockAcquire(&shared_ceiling->lock, LW_SHARED);
  const Oid relid = shared_ceiling->relation;
  LWLockRelease(&shared_ceiling->lock);
  if (!OidIsValid(relid)) return;
  // While it is locked nobody can replace the sequence, and invalidations that come from now on set
  // ceiling_known to false again.
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

// 55000. Where such a transaction is rolled back, or a part of it, what it goes back to is below
// the IDs that it would have shown.
[[noreturn]] void report_altered() {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("cannot generate IDs in a transaction that has altered or dropped sequence "
                  "\"%s.%s\"",
                  kInternalSchemaName, kCeilingName),
           errdetail("If the transaction is rolled back, IDs that it has shown could come again."),
           errhint("Commit the transaction, or roll it back.")));
  pg_unreachable();
}

// Whether this transaction, which has made the sequence, has dropped the one that the shared
// ceiling is durable in.
bool has_dropped_shared() {
  LWLockAcquire(&shared_ceiling->lock, LW_SHARED);
  const Oid relid = shared_ceiling->relation;
  LWLockRelease(&shared_ceiling->lock);
  LOCKTAG tag;
  SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
  return OidIsValid(relid) && has_lock(tag, AccessExclusiveLock);
}

// Makes sure that the ceiling in memory is durable in the extension's sequence, and sets
// ceiling_known, unless this transaction has made the sequence.
void look_at_ceiling() {
  Relation relation = open_ceiling(Urgency::kMust);
  if (has_new_storage(relation)) report_altered();
  use_stand_in(is_made_here(relation));
  const HeldCeiling held = lock_ceiling_in(relation);
  if (!is_durable_in(held) || !is_as_written(held)) {
    write_ceiling(held, {0});
    publish_ceiling(held);
  }
  // A transaction that has made the sequence, such as a restore, may yet call setval: so it looks
  // again for each ID.
  ceiling_known = !held.is_stand_in();
  unlock_ceiling(held);
}

// 25000. Of two equal calls in a row a worker makes one.
void require_no_worker() {
  if (IsParallelWorker())
    ereport(ERROR, (errcode(ERRCODE_INVALID_TRANSACTION_STATE),
                    errmsg("cannot generate IDs in a parallel worker"),
                    errhint("Mark the function that generates them PARALLEL UNSAFE.")));
}

}  // namespace

void require_can_issue() {
  require_no_recovery();
  require_no_worker();
}

void ceiling_learn() {
  require_can_issue();
  slots_attach();
  recognize_ceiling();
  if (ceiling_known) return;
  look_at_ceiling();
  if (has_stand_in() && has_dropped_shared()) report_altered();
}

void ceiling_carry_over() {
  require_can_issue();
  slots_attach();
  ceiling_relid = InvalidOid;
  look_at_ceiling();
}

void on_relcache_ceiling(Oid relid) {
  if (relid == ceiling_relid || relid == InvalidOid) ceiling_known = false;
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
