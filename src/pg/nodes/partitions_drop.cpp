// snowid_drop_partitions() and snowid_detach_partitions(): the end of partitions whose time has
// passed. See partitions.hpp.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/partitions.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// The least ID that is kept: the first one made at a moment or later.
core::Id limit_of(TimestampTz before, const core::Layout& layout) {
  require_order_by_time(layout);
  const core::UnixMicros moment = from_timestamptz(before);
  const core::UnixMicros now = unix_now();
  if (TIMESTAMP_NOT_FINITE(before) || moment >= layout.end || moment < layout.epoch)
    report_status(layout, core::Status::kTimeOutOfRange);
  // A mistaken sign must not cost the rows of today.
  if (moment > now)
    ereport(
        ERROR,
        (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("cannot remove partitions of the future"),
         errdetail("It is %s, and %s was asked for.", moment_text(now), moment_text(moment))));
  return FirstIdFrom(layout, moment);
}

// The partitions that end at an ID or before, the oldest first. The default one has no end.
List* partitions_before(const ParentTable& parent, core::Id limit) {
  List* found = NIL;
  const PartitionBoundInfo bounds = parent.bounds;
  for (int n = 0; bounds != nullptr && n < bounds->ndatums; n++) {
    if (bounds->kind[n][0] == PARTITION_RANGE_DATUM_MINVALUE) continue;
    if (bounds->kind[n][0] == PARTITION_RANGE_DATUM_MAXVALUE ||
        DatumGetInt64(bounds->datums[n][0]) > limit.value)
      break;
    // Of the partition that this is the end of, if it is one's.
    const int index = bounds->indexes[n];
    if (index >= 0) found = lappend_oid(found, parent.partitions[index]);
  }
  return found;
}

// Detaches partitions, and drops them if that is wanted. Detaching checks that no foreign key
// refers to their rows, which dropping does not.
void remove_all(const ParentTable& parent, List* partitions, bool is_drop,
                FunctionCallInfo fcinfo) {
  ListCell* cell;
  SPI_connect();
  foreach (cell, partitions) {
    const Oid relid = lfirst_oid(cell);
    // From here on its name stays.
    LockRelationOid(relid, AccessExclusiveLock);
    const char* name = qualified_name(relid);
    const bool is_foreign = get_rel_relkind(relid) == RELKIND_FOREIGN_TABLE;
    run_statement(psprintf("ALTER TABLE %s DETACH PARTITION %s", parent.name, name));
    if (is_drop) run_statement(psprintf("DROP %sTABLE %s", is_foreign ? "FOREIGN " : "", name));
    results_add(fcinfo, is_drop ? CStringGetTextDatum(name) : ObjectIdGetDatum(relid));
  }
  SPI_finish();
}

Datum remove_partitions(FunctionCallInfo fcinfo, bool is_drop) {
  const Oid relid = PG_GETARG_OID(0);
  const core::Id limit = limit_of(PG_GETARG_TIMESTAMPTZ(1), layout_arg(fcinfo, 2));
  results_begin(fcinfo);

  for (const LOCKMODE lock : {AccessShareLock, AccessExclusiveLock}) {
    ParentTable parent;
    parent_enter(relid, lock, true, &parent);
    List* partitions = partitions_before(parent, limit);
    if (partitions != NIL && lock == AccessExclusiveLock)
      remove_all(parent, partitions, is_drop, fcinfo);
    parent_leave(parent);
    if (lock == AccessShareLock) UnlockRelationOid(relid, lock);
    if (partitions == NIL) break;
  }
  PG_RETURN_NULL();
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_drop_partitions);
SNOWID_FUNCTION(snowid_detach_partitions);

// snowid_drop_partitions(parent regclass, before timestamptz, layout snowid_layout) → SETOF text
Datum snowid_drop_partitions(PG_FUNCTION_ARGS) {
  require_nextval("snowid_drop_partitions()");
  return remove_partitions(fcinfo, true);
}

// snowid_detach_partitions(parent regclass, before timestamptz, layout snowid_layout)
// → SETOF regclass
Datum snowid_detach_partitions(PG_FUNCTION_ARGS) {
  require_nextval("snowid_detach_partitions()");
  return remove_partitions(fcinfo, false);
}
}
