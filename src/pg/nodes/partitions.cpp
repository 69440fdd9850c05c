// snowid_create_partitions(): partitions by an ID's time, as many as are missing. See
// partitions.hpp.
#include "pg/nodes/partitions.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// What one call may make. Each partition takes several places in the server's table of locks until
// the transaction ends, and that has room for some thousand.
constexpr int kMostPartitions = 1000;

// What was asked for. A copy, since layout_arg() holds until somebody else's next call.
struct Wish {
  core::Layout layout;
  core::Step step;
  core::UnixMicros until;
};

core::Step step_arg(const Interval& interval, const core::Layout& layout) {
  core::Step step;
  const char* text =
      DatumGetCString(DirectFunctionCall1(interval_out, IntervalPGetDatum(&interval)));
  if (MakeStep(interval.month, interval.day, interval.time, &step) != core::Status::kOk)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("\"%s\" is no step between partitions", text),
                    errdetail("It can be 1, 2, 3, 4 or 6 months or whole years; weeks or days; or "
                              "1, 2, 3, 4, 6, 8, 12 or 24 hours.")));
  if (LeastLength(step) < layout.unit_us)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("\"%s\" is shorter than the unit of time of ID layout \"%s\"", text,
                           layout_text(layout.spec))));
  return step;
}

core::UnixMicros until_arg(TimestampTz until, const core::Layout& layout) {
  const core::UnixMicros moment = from_timestamptz(until);
  if (moment < layout.epoch || moment >= layout.end)
    report_status(layout, core::Status::kTimeOutOfRange);
  return moment;
}

// The partition after the last, or the first one. False where there is none to be made, since the
// last has no end or the layout does not go on.
bool next_partition(const ParentTable& parent, const Wish& wish, core::NewPartition* next) {
  const PartitionBoundInfo bounds = parent.bounds;
  if (bounds == nullptr || bounds->ndatums == 0) {
    const core::Status status = PartitionAt(wish.layout, wish.step, unix_now(), next);
    if (status != core::Status::kOk) report_status(wish.layout, status);
    return true;
  }
  // The greatest bound of all is where a partition ends.
  const int last = bounds->ndatums - 1;
  if (bounds->kind[last][0] != PARTITION_RANGE_DATUM_VALUE) return false;
  return PartitionFrom(wish.layout, wish.step, {DatumGetInt64(bounds->datums[last][0])}, next);
}

// How many there are to be made from `next` on. Fails with 54000.
int count_of(const Wish& wish, core::NewPartition next) {
  int count = 0;
  for (; next.begins <= wish.until; count++) {
    if (count == kMostPartitions)
      ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                      errmsg("cannot create more than %d partitions at once", kMostPartitions),
                      errdetail("The first %d would end at %s.", kMostPartitions,
                                moment_text(next.begins)),
                      errhint("Use a longer step, or several calls, each in a transaction of its "
                              "own.")));
    if (next.is_last || !PartitionFrom(wish.layout, wish.step, next.end, &next)) return count + 1;
  }
  return count;
}

// What a partition is called: the table's name and its date. Where that is too long for a name, the
// table's part is shortened, and a hash of all of it keeps it apart from other tables'.
const char* partition_name(const ParentTable& parent, const Wish& wish,
                           const core::NewPartition& partition) {
  const char* table = NameStr(parent.row.relname);
  const int length = static_cast<int>(strlen(table));
  char date[core::kPeriodNameSize];
  const int date_length = static_cast<int>(FormatPeriod(wish.step, partition.begins, date));
  if (length + 1 + date_length < NAMEDATALEN) return psprintf("%s_%.*s", table, date_length, date);
  const uint32 hash = hash_bytes(reinterpret_cast<const unsigned char*>(table), length);
  const int room = NAMEDATALEN - 1 - 1 - 8 - 1 - date_length;
  return psprintf("%.*s_%08x_%.*s", pg_mbcliplen(table, length, room), table, hash, date_length,
                  date);
}

// Makes a table like the partitioned one, but for what becomes its own as a partition: indexes,
// foreign keys, triggers, the identity of a column.
Oid create_table(const ParentTable& parent, const char* name) {
  const FormData_pg_class& table = parent.row;
  if (OidIsValid(get_relname_relid(name, table.relnamespace)))
    ereport(ERROR,
            (errcode(ERRCODE_DUPLICATE_TABLE), errmsg("relation \"%s\" already exists", name),
             errdetail("A new partition of table \"%s\" is to have this name.",
                       NameStr(parent.row.relname)),
             errhint("Rename it.")));
  StringInfoData statement;
  initStringInfo(&statement);
  appendStringInfo(
      &statement,
      "CREATE %sTABLE %s (LIKE %s INCLUDING DEFAULTS INCLUDING GENERATED INCLUDING CONSTRAINTS"
      " INCLUDING STORAGE INCLUDING COMPRESSION)",
      table.relpersistence == RELPERSISTENCE_UNLOGGED ? "UNLOGGED " : "",
      quote_qualified_identifier(get_namespace_name(table.relnamespace), name), parent.name);
  if (OidIsValid(table.relam))
    appendStringInfo(&statement, " USING %s", quote_identifier(get_am_name(table.relam)));
  if (OidIsValid(table.reltablespace))
    appendStringInfo(&statement, " TABLESPACE %s",
                     quote_identifier(get_tablespace_name(table.reltablespace)));
  run_statement(statement.data);
  return get_relname_relid(name, table.relnamespace);
}

// Has a partition's changes be published as those of the table are.
void copy_replica_identity(const ParentTable& parent, Oid partition) {
  const char* identity = nullptr;
  switch (parent.row.relreplident) {
    case REPLICA_IDENTITY_FULL:
      identity = "FULL";
      break;
    case REPLICA_IDENTITY_NOTHING:
      identity = "NOTHING";
      break;
    case REPLICA_IDENTITY_INDEX: {
      if (!OidIsValid(parent.replica_index)) return;
      Relation table = relation_open(partition, NoLock);
      const Oid index = index_get_partition(table, parent.replica_index);
      relation_close(table, NoLock);
      if (!OidIsValid(index)) return;
      identity = psprintf("USING INDEX %s", quote_identifier(get_rel_name(index)));
      break;
    }
    default:
      return;
  }
  run_statement(
      psprintf("ALTER TABLE %s REPLICA IDENTITY %s", qualified_name(partition), identity));
}

Oid create_partition(const ParentTable& parent, const Wish& wish,
                     const core::NewPartition& partition) {
  const Oid relid = create_table(parent, partition_name(parent, wish, partition));
  const char* end = partition.is_last ? "MAXVALUE" : psprintf(INT64_FORMAT, partition.end.value);
  MovingRows moving{};
  if (OidIsValid(parent.default_partition))
    rows_take(parent, partition.from.value,
              partition.is_last ? PG_INT64_MAX : partition.end.value - 1, &moving);
  run_statement(psprintf("ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (" INT64_FORMAT
                         ") TO (%s)",
                         parent.name, qualified_name(relid), partition.from.value, end));
  copy_replica_identity(parent, relid);
  rows_put(moving, relid);
  return relid;
}

// Fails where the owner may not make tables beside the partitioned one, which the caller perhaps
// may.
void require_schema(const ParentTable& parent) {
  const Oid schema = parent.row.relnamespace;
  if (check_create_in_schema(schema) == ACLCHECK_OK) return;
  ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                  errmsg("permission denied for schema %s", get_namespace_name(schema)),
                  errdetail("Partitions are made by the owner of the table, \"%s\".",
                            GetUserNameFromId(GetUserId(), false)),
                  errhint("Grant that role CREATE on the schema.")));
}

// Makes what is missing. `next` is only the first of them; each is where the one before it ends.
void create_all(const ParentTable& parent, const Wish& wish, core::NewPartition next,
                FunctionCallInfo fcinfo) {
  require_schema(parent);
  SPI_connect();
  // Before any row is looked for, since none must come later.
  if (OidIsValid(parent.default_partition))
    LockRelationOid(parent.default_partition, AccessExclusiveLock);
  for (int left = count_of(wish, next); left > 0; left--) {
    results_add(fcinfo, ObjectIdGetDatum(create_partition(parent, wish, next)));
    if (left > 1) PartitionFrom(wish.layout, wish.step, next.end, &next);
  }
  SPI_finish();
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_create_partitions);

// snowid_create_partitions(parent regclass, step interval, until timestamptz, layout snowid_layout)
// → SETOF regclass
Datum snowid_create_partitions(PG_FUNCTION_ARGS) {
  require_nextval("snowid_create_partitions()");
  const Oid relid = PG_GETARG_OID(0);
  Wish wish;
  wish.layout = layout_arg(fcinfo, 3);
  require_order_by_time(wish.layout);
  wish.step = step_arg(*PG_GETARG_INTERVAL_P(1), wish.layout);
  wish.until = until_arg(PG_GETARG_TIMESTAMPTZ(2), wish.layout);
  results_begin(fcinfo);

  for (const LOCKMODE lock : {AccessShareLock, ShareUpdateExclusiveLock}) {
    ParentTable parent;
    core::NewPartition next;
    parent_enter(relid, lock, false, &parent);
    const bool is_missing = next_partition(parent, wish, &next) && next.begins <= wish.until;
    if (is_missing && lock == ShareUpdateExclusiveLock) create_all(parent, wish, next, fcinfo);
    parent_leave(parent);
    if (lock == AccessShareLock) UnlockRelationOid(relid, lock);
    if (!is_missing) break;
  }
  PG_RETURN_NULL();
}
}
