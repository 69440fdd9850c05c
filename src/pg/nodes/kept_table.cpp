// Opening them. See kept_table.hpp.
#include "pg/nodes/kept_table.hpp"

#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

[[noreturn]] void report_altered(const char* name) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("relation \"%s.%s\" is missing or was altered", kOwnSchemaName, name),
           errhint("Use DROP EXTENSION %s and CREATE EXTENSION %s, or ALTER EXTENSION %s UPDATE.",
                   kExtensionName, kExtensionName, kExtensionName)));
  pg_unreachable();
}

Relation open_relation(const char* name, LOCKMODE lock) {
  const Oid relid = extension_relation(name);
  Relation relation = OidIsValid(relid) ? try_relation_open(relid, lock) : nullptr;
  if (relation == nullptr) report_altered(name);
  return relation;
}

}  // namespace

Relation kept_table_open(const KeptTable& table, LOCKMODE lock) {
  Relation relation = open_relation(table.name, lock);
  TupleDesc columns = RelationGetDescr(relation);
  bool is_right = relation->rd_rel->relkind == RELKIND_RELATION && columns->natts == table.columns;
  for (int i = 0; is_right && i < table.columns; i++)
    is_right = TupleDescAttr(columns, i)->atttypid == table.types[i];
  if (!is_right) report_altered(table.name);
  return relation;
}

Relation kept_sequence_open(const char* name, LOCKMODE lock) {
  Relation relation = open_relation(name, lock);
  if (relation->rd_rel->relkind != RELKIND_SEQUENCE ||
      relation->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
    report_altered(name);
  return relation;
}

}  // namespace snowid::pg
