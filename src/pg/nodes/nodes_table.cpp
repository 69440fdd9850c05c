// The table of nodes: its rows, what guards them, and what the registry's administrator does to
// them. See nodes_table.hpp.
#include "pg/nodes/nodes_table.hpp"

#include "pg/base/errors.hpp"
#include "pg/base/locks.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/durable_commit.hpp"
#include "pg/nodes/registry.hpp"
#include "pg/server/own_table.hpp"

namespace snowid::pg {

namespace {

constexpr Oid kTypes[kNodeColumns] = {INT8OID,        TEXTOID, TEXTOID,        INT8OID,
                                      OIDOID,         INT8OID, TIMESTAMPTZOID, TIMESTAMPTZOID,
                                      TIMESTAMPTZOID, TEXTOID, TIMESTAMPTZOID, TEXTOID,
                                      INT8OID,        INT8OID, TEXTOID};
constexpr OwnTable kNodes = {"nodes", kTypes, kNodeColumns, 0};

// The row of the node of this name. Fails with 42704 where there is none.
NodeRow row_of_node(Relation table, const char* node) {
  NodeRow found{};
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple tuple; HeapTupleIsValid(tuple = systable_getnext(scan));) {
    const NodeRow row = node_row_read(table, tuple);
    if (text_is(row, kNode, node)) found = row;
  }
  systable_endscan(scan);
  if (found.tuple == nullptr)
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("node \"%s\" does not exist", node),
                    errhint("Table \"snowid.nodes\" has those that this registry knows.")));
  return found;
}

// 0A000: the number would be another node's at once.
[[noreturn]] void report_delete() {
  ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                  errmsg("cannot delete from table \"snowid.nodes\""),
                  errdetail("A number that is given back is not free before all IDs of the node "
                            "are in the past."),
                  errhint("Use snowid_leave(node).")));
  pg_unreachable();
}

}  // namespace

Relation nodes_open(LOCKMODE lock) { return own_table_open(kNodes, lock); }

NodeRow node_row_read(Relation table, HeapTuple tuple) {
  NodeRow row;
  row.tuple = heap_copytuple(tuple);
  heap_deform_tuple(row.tuple, RelationGetDescr(table), row.values, row.nulls);
  return row;
}

bool text_is(const NodeRow& row, NodeColumn column, const char* value) {
  return !row.nulls[column] && strcmp(TextDatumGetCString(row.values[column]), value) == 0;
}

const char* registry_identity() {
  return psprintf(UINT64_FORMAT "/%u/%u", GetSystemIdentifier(), MyDatabaseId,
                  GetWALInsertionTimeLine());
}

void node_row_give_back(Relation table, NodeRow* row, TimestampTz used, TimestampTz now) {
  AssertHasLock(RelationGetRelid(table), ShareRowExclusiveLock);
  Assert(HeapTupleIsValid(row->tuple) && IsInUse(*row));
  row->values[kLastIdTime] = TimestampTzGetDatum(used);
  row->values[kLeftNode] = row->values[kNode];
  row->values[kFreeFrom] = TimestampTzGetDatum(std::max(used, now) + kQuarantineUs);
  // So that a node that asks after all is told that it has lost the number, and not that the
  // registry may be older than the node.
  row->values[kWrittenBy] = CStringGetTextDatum(registry_identity());
  row->nulls[kNode] = true;
  row->nulls[kLeftNode] = row->nulls[kFreeFrom] = row->nulls[kWrittenBy] = false;
  HeapTuple tuple = heap_form_tuple(RelationGetDescr(table), row->values, row->nulls);
  CatalogTupleUpdate(table, &row->tuple->t_self, tuple);
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_leave_for);
SNOWID_FUNCTION(snowid_keep_nodes);

// snowid_leave(node text) → void, on the registry
Datum snowid_leave_for(PG_FUNCTION_ARGS) {
  require_nextval("snowid_leave()");
  const char* node = text_to_cstring(PG_GETARG_TEXT_PP(0));
  // The number can be another's after that.
  require_durable_commit();
  Relation table = nodes_open(ShareRowExclusiveLock);
  NodeRow row = row_of_node(table, node);
  node_row_give_back(table, &row, DatumGetTimestampTz(row.values[kLastIdTime]),
                     GetCurrentTimestamp());
  table_close(table, NoLock);
  CommandCounterIncrement();
  PG_RETURN_VOID();
}

// The trigger on snowid.nodes. Rows that logical replication inserts, updates or deletes are about
// another registry's nodes, and are skipped. The tokens of those that a dump brings are old.
Datum snowid_keep_nodes(PG_FUNCTION_ARGS) {
  const TriggerData* trigger = require_own_trigger(
      fcinfo, "keep_nodes", "Use snowid_leave() on each node, or snowid_leave(node) here.");
  if (IsLogicalWorker()) PG_RETURN_POINTER(nullptr);
  if (TRIGGER_FIRED_BY_DELETE(trigger->tg_event)) report_delete();
  HeapTuple row = row_of(trigger);
  if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event)) PG_RETURN_POINTER(row);
  table_close(nodes_open(NoLock), NoLock);
  int column = kWrittenBy + 1;
  Datum value = Datum{0};
  bool is_null = true;
  PG_RETURN_POINTER(heap_modify_tuple_by_cols(row, RelationGetDescr(trigger->tg_relation), 1,
                                              &column, &value, &is_null));
}
}
