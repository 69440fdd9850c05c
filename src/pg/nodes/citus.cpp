#include "pg/nodes/citus.hpp"

#include "pg/catalog_table.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/membership.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "catalog/pg_namespace.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
}

namespace snowid::pg {

namespace {

constexpr char kGroupTable[] = "pg_dist_local_group";
constexpr char kNodesTable[] = "pg_dist_node";
constexpr char kGroupColumn[] = "groupid";

// Prefixes of the application_name of sessions opened by Citus on its nodes.
constexpr const char* kOwnSessions[] = {"citus_internal",
                                        "citus_run_command gpid=", "citus_rebalancer gpid="};

bool is_own_session() {
  if (application_name == nullptr) return false;
  for (const char* beginning : kOwnSessions)
    if (strncmp(application_name, beginning, strlen(beginning)) == 0) return true;
  return false;
}

// Returns nullptr if pg_catalog has no such table.
Relation open_table(const char* name) {
  for (;;) {
    const Oid relid = get_relname_relid(name, PG_CATALOG_NAMESPACE);
    if (!OidIsValid(relid)) return nullptr;
    Relation relation = try_relation_open(relid, AccessShareLock);
    if (relation != nullptr) return relation;
  }
}

// Whether the cluster's nodes are listed on this one.
bool knows_nodes() {
  Relation relation = open_table(kNodesTable);
  if (relation == nullptr) return false;
  const bool knows = relation->rd_rel->relkind == RELKIND_RELATION && has_row(relation);
  relation_close(relation, AccessShareLock);
  return knows;
}

// Checks the table's form and number of rows, because an invalid group may be another node's.
CitusNode read_row(Relation relation) {
  CitusNode node = {CitusState::kAltered, 0, true};
  if (relation->rd_rel->relkind != RELKIND_RELATION) return node;
  TupleDesc columns = RelationGetDescr(relation);
  const int column = SPI_fnumber(columns, kGroupColumn);
  if (column <= 0 || SPI_gettypeid(columns, column) != INT4OID) return node;

  SysScanDesc scan = systable_beginscan(relation, InvalidOid, false, nullptr, 0, nullptr);
  HeapTuple row = systable_getnext(scan);
  if (!HeapTupleIsValid(row)) {
    node.state = CitusState::kNoRow;
  } else {
    bool is_null;
    node.group = DatumGetInt32(heap_getattr(row, column, columns, &is_null));
    if (!is_null && node.group >= 0 && !HeapTupleIsValid(systable_getnext(scan)))
      node.state = CitusState::kNumbered;
  }
  systable_endscan(scan);
  return node;
}

CitusNode read_group() {
  Relation relation = open_table(kGroupTable);
  if (relation == nullptr) return {CitusState::kNone, 0, true};
  // No invalidation is sent when an extension adopts an existing table.
  CitusNode node = {CitusState::kNone, 0, false};
  if (belongs_to(RelationRelationId, RelationGetRelid(relation), "citus"))
    node = read_row(relation);
  relation_close(relation, AccessShareLock);
  return node;
}

}  // namespace

CitusNode citus_read() {
  CitusNode node = read_group();
  if (node.state != CitusState::kNumbered || node.group != 0) return node;

  // Group 0 is the coordinator's, and that of a worker not synchronized yet; only the latter lists
  // no nodes. Citus may be synchronizing it, first the group, then the nodes: if the nodes are
  // there, so is the group.
  if (knows_nodes()) return read_group();
  // No cluster, or a worker not synchronized: the session cannot tell, and a pooler may reuse it.
  node.is_lasting = false;
  if (is_own_session()) node.state = CitusState::kUnsynchronized;
  return node;
}

void report_no_group(CitusState state) {
  if (state == CitusState::kNoRow)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("this node has no group in Citus"),
            errdetail("Table \"pg_catalog.%s\" has no row.", kGroupTable),
            errhint("Insert this node's group from \"pg_catalog.%s\" on the coordinator, 0 on "
                    "the coordinator itself.",
                    kNodesTable));
  if (state == CitusState::kUnsynchronized)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("Citus has not synchronized its metadata to this node"),
            errdetail("The node's group is 0, the coordinator's, whose IDs it would generate; "
                      "and \"pg_catalog.%s\" is empty.",
                      kNodesTable),
            errhint("Call start_metadata_sync_to_node() on the coordinator."));
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("table \"pg_catalog.%s\" is not as created by Citus", kGroupTable),
          errdetail("It should have one row, with 0 or more in column \"groupid\" of type "
                    "integer."),
          errhint("Restore the table, which CREATE EXTENSION citus creates."));
}

void require_no_citus() {
  if (citus_read().state == CitusState::kNone) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("database is a node of Citus, which assigns its number"),
          errhint("It need not join: snowid_next() uses the number assigned by Citus."));
}

void report_replaced(int32 group) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("another server has Citus' group %d", group),
          errdetail("The coordinator lists this node's group at another address, so both servers "
                    "would generate the same IDs."),
          errhint("If the other server replaces this one, stop this one. If the coordinator lists "
                  "this one again, use snowid.check_node()."));
}

int32 citus_check_group(const CitusNode& citus) {
  if (citus.state != CitusState::kNumbered) report_no_group(citus.state);
  membership_lock();
  Membership member = membership_read();
  const Oid type = INT4OID;
  const Oid function = own_function("is_server_of_group", 1, &type);
  const bool is_replaced = !DatumGetBool(OidFunctionCall1(function, Int32GetDatum(citus.group)));
  if (member.is_group_replaced != is_replaced) {
    member.is_group_replaced = is_replaced;
    membership_write(member);
  }
  if (is_replaced) report_replaced(citus.group);
  return citus.group;
}

}  // namespace snowid::pg
