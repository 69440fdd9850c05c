// snowid_watermark: an ID such that each row of a table with a key at or below it, generated in the
// statement that inserted the row, is visible to all later snapshots, or never will be.
//
// 1. The mark is the greatest ID issued in this database and layout, or the last one of the time
//    that has passed.
// 2. All shards are lifted above it. An ID at or below it was therefore issued before, by a
//    statement that had already locked the table. Shards lifted ahead of the clock lose the time up
//    to the mark. The next call waits until the clock has reached it, because calls in a loop would
//    otherwise drive all shards to max_lead.
// 3. Wait for the transactions that now hold a writer's lock on the table, its partitions, or its
//    ancestors. No later one has such an ID. No lock is taken, so no session queues behind it.
//
// GetLockConflicts(ShareLock), as in CREATE INDEX CONCURRENTLY, would wait for VACUUM, and deadlock
// with CREATE INDEX CONCURRENTLY. A writer always has RowExclusiveLock, and those have not.
//
// Shared: slots, lifted by compare-and-swap. Slots created or opened meanwhile start above
// Database::watermark_us, raised before slots are scanned: under Ceiling::lock in shared mode,
// because open_slot() reads it and opens the slot under that lock.
#include "pg/postgres.hpp"

#include "pg/catalog_table.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/table_layout.hpp"
#include "pg/types/layout.hpp"

extern "C" {
#include "catalog/namespace.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_namespace.h"
#include "utils/inval.h"
}

namespace snowid::pg {

namespace {

core::Id greatest_issued(const core::Layout& layout) {
  core::Id greatest{0};
  // A new slot starts at the end of a unit.
  const core::Tick start = my_start_tick(layout);
  if (start.value > 0) greatest = last_id_of(layout, time_of(layout, start));
  for_each_slot([&](const Slot* slot, const core::Layout& of) {
    // A closed slot issues nothing, and is opened above the mark.
    if (!(of == layout) || is_at_end(slot, of)) return;
    const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
    greatest = std::max(greatest, id_of(of, {slot->key.shard}, last));
  });
  return greatest;
}

// At most the ceiling, the start of slots after a crash. Ended units cover the IDs of a released
// shard once the clock has passed them.
core::Id choose_mark(const core::Layout& layout) {
  const core::Id greatest = greatest_issued(layout);
  const core::UnixMicros ceiling{my_ceiling->ceiling_us.load(std::memory_order_acquire)};
  const core::Time ended{time_at(layout, unix_now()).value - 1};
  return watermark_of(layout, greatest, std::min(ended, time_at(layout, ceiling)));
}

// Raises watermark_us to `start`, at most max_lead ahead, once the clock has reached the old one.
void raise_watermark(core::UnixMicros start) {
  std::atomic<int64_t>* shared = &shared_database->watermark_us;
  int64_t last = shared->load(std::memory_order_acquire);
  while (last < start.value) {
    const int64 ahead_us = last - lead_from_now(unix_now()).value;
    if (ahead_us > 0) {
      wait_a_while(ahead_us);
    } else {
      LWLockAcquire(&shared_database->ceiling.lock, LW_SHARED);
      shared->compare_exchange_strong(last, start.value, std::memory_order_acq_rel);
      LWLockRelease(&shared_database->ceiling.lock);
    }
    last = shared->load(std::memory_order_acquire);
  }
}

// Raises: SN001, as wait_until_allowed().
void lift_above(const core::Layout& layout, core::Id mark) {
  const core::Parts parts = parts_of(layout, mark.value);
  const core::Time start{parts.time.value + (has_short_unit(layout) ? 0 : 1)};
  wait_until_allowed("ID", start_of(layout, parts.time));
  raise_watermark(start_of(layout, start));
  for_each_slot([&](Slot* slot, const core::Layout& of) {
    if (of == layout) raise_to(slot->last_tick, tick_below(of, {slot->key.shard}, parts));
  });
}

// Raises: 42P01, 42809, or 0A000 if writers of the relation cannot be waited for.
void require_readable_table(Oid relid) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(row)) report_no_relation(relid);
  const auto relation = *reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  ReleaseSysCache(row);
  const char* name = pstrdup(NameStr(relation.relname));
  if (relation.relkind == RELKIND_FOREIGN_TABLE)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot compute a watermark of foreign table \"%s\"", name),
            errdetail("Its rows are written on another server."),
            errhint("Call snowid_watermark() on the remote server."));
  if (relation.relkind != RELKIND_RELATION && relation.relkind != RELKIND_PARTITIONED_TABLE)
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", name));
  if (isOtherTempNamespace(relation.relnamespace))
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot compute a watermark of a temporary table of another session"));
}

void require_select(Oid relid) {
  if (pg_class_aclcheck(relid, GetUserId(), ACL_SELECT) == ACLCHECK_OK) return;
  const AclResult column = pg_attribute_aclcheck_all(relid, GetUserId(), ACL_SELECT, ACLMASK_ANY);
  if (column != ACLCHECK_OK) aclcheck_error(column, OBJECT_TABLE, get_rel_name(relid));
}

List* tables_below(Oid relid) {
  List* tables = find_all_inheritors(relid, NoLock, nullptr);
  ListCell* cell;
  foreach (cell, tables) require_readable_table(lfirst_oid(cell));
  return tables;
}

// PostgreSQL's get_partition_ancestors() omits a parent during DETACH CONCURRENTLY, although its
// earlier writers still insert into the partition.
List* tables_above(Oid relid) {
  List* tables = NIL;
  while (get_rel_relispartition(relid)) {
    const HeapTuple row = catalog_row(InheritsRelationId, InheritsRelidSeqnoIndexId,
                                      Anum_pg_inherits_inhrelid, relid);
    if (!HeapTupleIsValid(row)) break;
    relid = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(row))->inhparent;
    tables = lappend_oid(tables, relid);
  }
  return tables;
}

// Raises: 0A000 if the table is distributed by Citus.
void require_not_distributed(Oid relid) {
  const Oid catalog = get_relname_relid("pg_dist_partition", PG_CATALOG_NAMESPACE);
  if (!OidIsValid(catalog)) return;
  const AttrNumber column = get_attnum(catalog, "logicalrelid");
  if (column != InvalidAttrNumber &&
      HeapTupleIsValid(catalog_row(catalog, InvalidOid, column, relid)))
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("table \"%s\" is distributed by Citus", get_rel_name(relid)),
            errdetail("Its rows are on other nodes, each of which issues IDs of its own."),
            errhint("Call snowid_watermark() for each shard of the table, on its node."));
}

// Whether a running statement of this session, however deep, or a cursor reads the relation.
bool is_read(Oid relid) {
  Relation relation = RelationIdGetRelation(relid);
  if (relation == nullptr) return false;
  // Like PostgreSQL's CheckTableNotInUse().
  const int own = relation->rd_isnailed ? 2 : 1;
  const bool is_used = relation->rd_refcnt != own;
  RelationClose(relation);
  return is_used;
}

[[noreturn]] void report_statement(Oid relid, const char* message) {
  ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("%s", message),
          errdetail("A snapshot older than the watermark may miss rows."),
          errhint("Use two statements: SELECT snowid_watermark('%s'), and then SELECT ... WHERE id "
                  "> last_watermark AND id <= watermark ORDER BY id.",
                  qualified_name(relid)));
}

// Raises: 0A000 if the caller's snapshot is older than the mark; 25001 if its transaction's is.
void require_own_statement(FunctionCallInfo fcinfo, Oid relid, const List* tables) {
  if (IsolationUsesXactSnapshot())
    ereport(ERROR, errcode(ERRCODE_ACTIVE_SQL_TRANSACTION),
            errmsg("snowid_watermark() cannot run in a %s transaction",
                   IsolationIsSerializable() ? "SERIALIZABLE" : "REPEATABLE READ"),
            errdetail("Its snapshot hides what other sessions have committed since it "
                      "began."),
            errhint("Use BEGIN ISOLATION LEVEL READ COMMITTED."));
  const auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  if (result == nullptr || !IsA(result, ReturnSetInfo) || result->econtext == nullptr ||
      result->econtext->ecxt_estate == nullptr)
    report_statement(relid, "snowid_watermark() was called outside of a query");
  const EState* statement = result->econtext->ecxt_estate;
  ListCell* cell;
  foreach (cell, statement->es_range_table)
    if (static_cast<const RangeTblEntry*>(lfirst(cell))->rtekind == RTE_RELATION)
      report_statement(relid, "snowid_watermark() cannot run in a statement that reads a table");
  // A function that is not VOLATILE uses its caller's snapshot. Each of its statements has two
  // references to it (CreateQueryDesc(), standard_ExecutorStart()), and EXECUTE one.
  if (statement->es_snapshot->regd_count > 3)
    report_statement(relid, "snowid_watermark() cannot run in a function that is not VOLATILE");
  foreach (cell, tables)
    if (is_read(lfirst_oid(cell)))
      report_statement(relid,
                       "snowid_watermark() cannot run in a function that is called by a "
                       "statement that reads the table");
}

// Raises: 22023 if the defaults are ambiguous.
core::Layout layout_of_table(Oid relid, const List* tables) {
  DefaultLayout found{};
  ListCell* cell;
  foreach (cell, tables) default_layout_add(lfirst_oid(cell), &found);
  if (found.is_mixed || (!found.has_layout && found.is_other))
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("layout of the IDs of table \"%s\" is not known", get_rel_name(relid)),
            found.is_mixed ? errdetail("Its defaults generate IDs of several layouts.")
                           : errdetail("It has a default other than snowid_next()."),
            errhint("Pass it: snowid_watermark('%s', 'instagram').", qualified_name(relid)));
  return core::make_layout(found.has_layout ? found.layout : core::kInstagram.spec);
}

void require_time_order(const core::Layout& layout) {
  if (layout.time_is_first) return;
  ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
          errmsg("IDs of layout \"%s\" are not ordered by time", layout_text(layout.spec)),
          errdetail("The time is not its first field."));
}

// The wait is one for a lock: lock_timeout and the deadlock detector apply. pg_stat_activity shows
// snowid's event, because PostgreSQL's "virtualxid" is redirected meanwhile.
void wait_for(const VirtualTransactionId& writer) {
  // It has ended, and is about to release its locks.
  if (!VirtualTransactionIdIsValid(writer)) return;
  static uint32 ignored;
  const uint32 event = wait_event("SnowidWatermark", 0);
  if (event == 0) {
    VirtualXactLock(writer, true);
    return;
  }
  pgstat_report_wait_start(event);
  pgstat_set_wait_event_storage(&ignored);
  PG_TRY();
  { VirtualXactLock(writer, true); }
  PG_FINALLY();
  {
    pgstat_set_wait_event_storage(&MyProc->wait_event_info);
    pgstat_report_wait_end();
  }
  PG_END_TRY();
}

bool is_locked(const LockInstanceData& lock, LOCKMODE mode) {
  return lock.locktag.locktag_type == LOCKTAG_RELATION &&
         lock.locktag.locktag_field1 == MyDatabaseId && (lock.holdMask & LOCKBIT_ON(mode)) != 0;
}

// Whether the holder of this lock may have written rows. A partition invisible to other sessions
// may have been written directly. Creating it leaves AccessExclusiveLock on the table; attaching
// it, or a child, that on the new one, and ShareUpdateExclusiveLock on the table, as VACUUM does.
bool may_have_written(const LockData* locks, const LockInstanceData& lock) {
  if (is_locked(lock, RowExclusiveLock) || is_locked(lock, AccessExclusiveLock)) return true;
  if (!is_locked(lock, ShareUpdateExclusiveLock)) return false;
  const VirtualTransactionId holder = holder_of(lock);
  for (int i = 0; i < locks->nelements; i++)
    if (VirtualTransactionIdEquals(holder_of(locks->locks[i]), holder) &&
        is_locked(locks->locks[i], AccessExclusiveLock))
      return true;
  return false;
}

// Including prepared ones.
void wait_for_writers(const List* tables) {
  const LockData* locks = GetLockStatusData();
  for (int i = 0; i < locks->nelements; i++) {
    const LockInstanceData& lock = locks->locks[i];
    if (lock.pid != MyProcPid && list_member_oid(tables, lock.locktag.locktag_field2) &&
        may_have_written(locks, lock))
      wait_for(holder_of(lock));
  }
}

// stated: the layout, or nullptr for the defaults'.
int64 watermark_of(FunctionCallInfo fcinfo, Oid relid, const core::LayoutSpec* stated) {
  PreventCommandDuringRecovery("snowid_watermark()");
  require_readable_table(relid);
  require_select(relid);
  require_not_distributed(relid);
  List* tables = tables_below(relid);
  require_own_statement(fcinfo, relid, tables);
  const core::Layout layout =
      stated != nullptr ? core::make_layout(*stated) : layout_of_table(relid, tables);
  require_time_order(layout);

  require_ceiling();
  const core::Id mark = choose_mark(layout);
  // Before the layout's epoch, there are no IDs.
  if (mark.value > 0) lift_above(layout, mark);
  // Looked up again, because a partition may have been attached, or the table dropped: a row
  // inserted through the parent gets its ID before its partition is locked.
  AcceptInvalidationMessages();
  require_readable_table(relid);
  tables = find_all_inheritors(relid, NoLock, nullptr);
  wait_for_writers(list_concat(tables, tables_above(relid)));
  return mark.value;
}

}  // namespace

// Returns one row. A set cannot be in WHERE, and shows the statement that calls it.
SNOWID_FUNCTION(snowid_watermark) {
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
  Datum mark = Int64GetDatum(watermark_of(fcinfo, PG_GETARG_OID(0),
                                          PG_NARGS() == 1 ? nullptr : &layout_spec_arg(fcinfo, 1)));
  bool is_null = false;
  put_row(fcinfo, &mark, &is_null);
  PG_RETURN_NULL();
}

}  // namespace snowid::pg
