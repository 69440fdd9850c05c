// The refusals. See adopt_checks.hpp.
#include "pg/nodes/adopt_checks.hpp"

#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// A table that has the column that this one inherits; InvalidOid where it is gone.
Oid parent_with(Oid relid, const char* column) {
  Oid parent = InvalidOid;
  ScanKeyData key;
  Relation catalog = table_open(InheritsRelationId, AccessShareLock);
  ScanKeyInit(&key, Anum_pg_inherits_inhrelid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(relid));
  SysScanDesc scan = systable_beginscan(catalog, InheritsRelidSeqnoIndexId, true, nullptr, 1, &key);
  for (;;) {
    HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const Oid candidate = reinterpret_cast<Form_pg_inherits>(GETSTRUCT(row))->inhparent;
    if (get_attnum(candidate, column) == InvalidAttrNumber) continue;
    parent = candidate;
    break;
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return parent;
}

// The one above all: the parent's parent, and so on.
Oid topmost_with(Oid relid, const char* column) {
  for (;;) {
    const Oid parent = parent_with(relid, column);
    if (!OidIsValid(parent)) return relid;
    relid = parent;
  }
}

// What widens the column and those that refer to it; nullptr where nothing is to be widened.
char* widening_of(Oid relid, const char* column) {
  NameData name;
  namestrcpy(&name, column);
  Oid types[] = {REGCLASSOID, NAMEOID};
  Datum values[] = {ObjectIdGetDatum(relid), NameGetDatum(&name)};
  MemoryContext caller = CurrentMemoryContext;
  char* text = nullptr;
  SPI_connect();
  if (SPI_execute_with_args(psprintf("SELECT %s.widening($1, $2)", kOwnSchemaName), 2, types,
                            values, nullptr, false, 0) != SPI_OK_SELECT ||
      SPI_processed != 1)
    elog(ERROR, "could not look for columns to be widened");
  const char* value = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1);
  if (value != nullptr) text = MemoryContextStrdup(caller, value);
  SPI_finish();
  return text;
}

[[noreturn]] void report_type(Oid relid, const char* column, Oid type) {
  const Oid base = getBaseType(type);
  const char* widening = base == INT4OID || base == INT2OID ? widening_of(relid, column) : nullptr;
  ereport(ERROR,
          (errcode(ERRCODE_DATATYPE_MISMATCH),
           errmsg("column \"%s\" of relation \"%s\" is of type %s, and IDs are of type %s", column,
                  get_rel_name(relid), format_type_be(type), format_type_be(INT8OID)),
           widening != nullptr ? errdetail("%s", widening) : 0,
           widening != nullptr
               ? errhint("Widen it and what refers to it, also in functions and programs, "
                         "and adopt it then.")
               : 0));
  pg_unreachable();
}

}  // namespace

void require_own_table(Oid relid) {
  const char kind = get_rel_relkind(relid);
  const char* name = get_rel_name(relid);
  if (kind == '\0' || name == nullptr) report_no_relation(relid);
  if (kind == RELKIND_FOREIGN_TABLE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is a foreign table", name),
                    errdetail("The keys that it has are not known here."),
                    errhint("Let its own server adopt the column.")));
  if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
    ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a table", name)));
  if (!owns_relation(relid)) aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_TABLE, name);
  if (IsCatalogRelationOid(relid))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("permission denied: \"%s\" is a system catalog", name)));
  if (isOtherTempNamespace(get_rel_namespace(relid)))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot alter temporary tables of other sessions")));
}

void require_wide_column(Oid relid, const char* column, bool has_time) {
  HeapTuple row = SearchSysCacheAttName(relid, column);
  if (!HeapTupleIsValid(row))
    ereport(ERROR, (errcode(ERRCODE_UNDEFINED_COLUMN),
                    errmsg("column \"%s\" of relation \"%s\" does not exist", column,
                           get_rel_name(relid))));
  const FormData_pg_attribute attribute = *reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row));
  ReleaseSysCache(row);
  if (attribute.attnum < 0)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot alter system column \"%s\"", column)));
  if (attribute.attinhcount > 0)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_TABLE_DEFINITION),
             errmsg("column \"%s\" of relation \"%s\" is inherited", column, get_rel_name(relid)),
             errhint("Adopt that of table %s; its partitions and children go along.",
                     qualified_name(topmost_with(relid, column)))));
  if (attribute.attgenerated != '\0')
    ereport(ERROR, (errcode(ERRCODE_INVALID_COLUMN_DEFINITION),
                    errmsg("column \"%s\" of relation \"%s\" is a generated column", column,
                           get_rel_name(relid))));
  if (getBaseType(attribute.atttypid) != INT8OID) report_type(relid, column, attribute.atttypid);
  const char* widening = has_time ? widening_of(relid, column) : nullptr;
  if (widening != nullptr)
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("columns that refer to column \"%s\" of relation \"%s\" cannot hold IDs",
                           column, get_rel_name(relid)),
                    errdetail("%s", widening),
                    errhint("Widen them, also in functions and programs, and adopt it then.")));
}

}  // namespace snowid::pg
