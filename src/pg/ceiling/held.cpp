// Opening and locking the sequence. See held.hpp.
#include "pg/ceiling/held.hpp"

#include "pg/catalog_table.hpp"
#include "pg/ceiling/raises.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"

namespace snowid::pg {

Oid ceiling_relid = InvalidOid;

namespace {

Oid look_up_ceiling() {
  const Oid relid = extension_relation(kCeilingName);
  if (!OidIsValid(relid))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("sequence \"%s.%s\" of extension \"%s\" does not exist",
                           kInternalSchemaName, kCeilingName, kExtensionName),
                    errhint("Create the extension with CREATE EXTENSION %s.", kExtensionName)));
  return relid;
}

constexpr core::UnixMillis kAll{PG_INT64_MAX};

// Whether a subscription of this database brings the value of a sequence.
bool is_subscribed(Relation relation) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_subscription_rel_srrelid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(RelationGetRelid(relation)));
  Relation catalog = table_open(SubscriptionRelRelationId, AccessShareLock);
  SysScanDesc scan =
      systable_beginscan(catalog, SubscriptionRelSrrelidSrsubidIndexId, true, nullptr, 1, &key);
  const bool is_subscribed = HeapTupleIsValid(systable_getnext(scan));
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return is_subscribed;
}

}  // namespace

void require_no_recovery() {
  if (RecoveryInProgress())
    ereport(ERROR, (errcode(ERRCODE_READ_ONLY_SQL_TRANSACTION),
                    errmsg("cannot issue IDs during recovery")));
}

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
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("relation \"%s.%s\" is not a permanent sequence", kInternalSchemaName,
                           kCeilingName),
                    errdetail("IDs could repeat after a crash."),
                    errhint("Make it permanent with ALTER SEQUENCE %s.%s SET LOGGED.",
                            kInternalSchemaName, kCeilingName)));
  return relation;
}

HeldCeiling lock_ceiling_in(Relation relation) {
  second_page_extend(relation);
  // Before the lock is taken, since catalogs are read. A subscription is there before it sets the
  // sequence, so it is found whenever that happens.
  const bool is_replicated = kReplicatesSequences && is_subscribed(relation);
  LWLockAcquire(&my_ceiling->lock, LW_EXCLUSIVE);
  const core::UnixMillis most =
      is_replicated ? core::round_up({unix_now().value + core::kClocksDifferUs}) : kAll;
  return {relation, my_ceiling, most};
}

HeldCeiling lock_ceiling(Urgency urgency) {
  require_no_recovery();
  Relation relation = open_ceiling(urgency);
  if (relation == nullptr) return {nullptr, nullptr, kAll};
  // ceiling_learn() has chosen between the stand-in and the shared ceiling, and only a command of
  // this transaction could change that since.
  if (is_made_here(relation) != has_stand_in())
    elog(ERROR, "the ceiling of IDs was made anew within a call");
  return lock_ceiling_in(relation);
}

void unlock_ceiling(const HeldCeiling& held) {
  LWLockRelease(&held.ceiling->lock);
  relation_close(held.relation, RowExclusiveLock);
  log_slow_flush();
}

bool is_durable_in(const HeldCeiling& held) {
  assert_holds_exclusively(held.ceiling->lock);
  return held.ceiling->relation == RelationGetRelid(held.relation) &&
         held.ceiling->file == file_of(held.relation);
}

}  // namespace snowid::pg
