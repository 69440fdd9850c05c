// Partitioned tables, and working on them as their owner. See partitions.hpp.
#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/partitions.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// Fails where a table is none, or not the user's, or of another kind. Returns its owner.
Oid require_own_partitioned(Oid relid) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(row)) report_no_relation(relid);
  const auto* table = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
  const Oid owner = table->relowner;
  const char kind = table->relkind;
  const bool is_temporary = table->relpersistence == RELPERSISTENCE_TEMP;
  const char* name = pstrdup(NameStr(table->relname));
  ReleaseSysCache(row);

  if (!owns_relation(relid)) aclcheck_error(ACLCHECK_NOT_OWNER, get_relkind_objtype(kind), name);
  if (kind != RELKIND_PARTITIONED_TABLE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("\"%s\" is not a partitioned table", name)));
  if (is_temporary)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("partitions of temporary table \"%s\" are not supported", name)));
  return owner;
}

// Fails where the table is not partitioned by range of a bigint column, in a bigint's own order.
void require_range_of_ids(Relation table) {
  const char* name = RelationGetRelationName(table);
  const PartitionKey key = RelationGetPartitionKey(table);
  if (key->strategy != PARTITION_STRATEGY_RANGE || key->partnatts != 1 || key->partattrs[0] == 0)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                    errmsg("table \"%s\" is not partitioned by range of one column", name),
                    errdetail("It is partitioned by %s.",
                              TextDatumGetCString(DirectFunctionCall1(
                                  pg_get_partkeydef, ObjectIdGetDatum(RelationGetRelid(table)))))));
  if (key->partsupfunc[0].fn_oid != F_BTINT8CMP)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("table \"%s\" is partitioned by a column that holds no IDs", name),
                    errdetail("Column \"%s\" is of type %s, not bigint.",
                              get_attname(RelationGetRelid(table), key->partattrs[0], false),
                              format_type_be(key->parttypid[0]))));
}

}  // namespace

void require_order_by_time(const core::Layout& layout) {
  if (layout.time_is_first) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("IDs of layout \"%s\" are not in the order of their time",
                         layout_text(layout.spec)),
                  errdetail("No range of them is a range of time.")));
}

void parent_enter(Oid relid, LOCKMODE lock, bool omit_detached, ParentTable* parent) {
  *parent = {};
  // Nobody may lock another's table; and once it is locked it may have changed.
  require_own_partitioned(relid);
  LockRelationOid(relid, lock);
  parent->caller = role_enter(require_own_partitioned(relid), SECURITY_RESTRICTED_OPERATION);
  // What the session has cached of the partitions can be older than the lock: the message that one
  // was attached may have come, and be forgotten, while they were read.
  RelationCacheInvalidateEntry(relid);

  Relation table = relation_open(relid, NoLock);
  require_range_of_ids(table);
  const PartitionKey key = RelationGetPartitionKey(table);
  parent->relid = relid;
  memcpy(&parent->row, table->rd_rel, CLASS_TUPLE_SIZE);
  parent->columns = CreateTupleDescCopyConstr(RelationGetDescr(table));
  parent->name = qualified_name(relid);
  parent->column = quote_identifier(get_attname(relid, key->partattrs[0], false));
  parent->replica_index = RelationGetReplicaIndex(table);

  const PartitionDesc partitions = RelationGetPartitionDesc(table, omit_detached);
  parent->default_partition = get_default_oid_from_partdesc(partitions);
  if (partitions->nparts > 0) {
    parent->bounds = partition_bounds_copy(partitions->boundinfo, key);
    Oid* copy = static_cast<Oid*>(palloc(sizeof(Oid) * partitions->nparts));
    memcpy(copy, partitions->oids, sizeof(Oid) * partitions->nparts);
    parent->partitions = copy;
  }
  relation_close(table, NoLock);
}

void parent_leave(const ParentTable& parent) { role_leave(parent.caller); }

void run_statement(const char* statement) {
  const int result = SPI_execute(statement, false, 0);
  if (result < 0) elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
}

void results_begin(FunctionCallInfo fcinfo) {
  InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
}

void results_add(FunctionCallInfo fcinfo, Datum value) {
  const auto* results = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  bool is_null = false;
  tuplestore_putvalues(results->setResult, results->setDesc, &value, &is_null);
}

}  // namespace snowid::pg
