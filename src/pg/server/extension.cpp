// Looking up the extension's objects. See extension.hpp.
#include "pg/server/extension.hpp"

namespace snowid::pg {

Oid extension_schema(Oid extension) {
  Oid schema = InvalidOid;
  ScanKeyData key;
  Relation catalog = table_open(ExtensionRelationId, AccessShareLock);
  ScanKeyInit(&key, Anum_pg_extension_oid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(extension));
  SysScanDesc scan = systable_beginscan(catalog, ExtensionOidIndexId, true, nullptr, 1, &key);
  HeapTuple tuple = systable_getnext(scan);
  if (HeapTupleIsValid(tuple))
    schema = reinterpret_cast<Form_pg_extension>(GETSTRUCT(tuple))->extnamespace;
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return schema;
}

Oid extension_relation(const char* name) {
  const Oid extension = get_extension_oid(kExtensionName, true);
  if (!OidIsValid(extension)) return InvalidOid;
  const Oid schema = get_namespace_oid(kInternalSchemaName, true);
  if (!OidIsValid(schema)) return InvalidOid;
  const Oid relid = get_relname_relid(name, schema);
  if (!OidIsValid(relid) || getExtensionOfObject(RelationRelationId, relid) != extension)
    return InvalidOid;
  return relid;
}

bool is_own_relation(Oid relid) {
  const Oid extension = getExtensionOfObject(RelationRelationId, relid);
  return OidIsValid(extension) && extension == get_extension_oid(kExtensionName, true);
}

bool is_own_function(Oid function, const char* name) {
  const char* found = get_func_name(function);
  if (found == nullptr || strcmp(found, name) != 0) return false;
  const Oid extension = getExtensionOfObject(ProcedureRelationId, function);
  return OidIsValid(extension) && extension == get_extension_oid(kExtensionName, true);
}

const char* qualified_name(Oid relid) {
  return quote_qualified_identifier(get_namespace_name(get_rel_namespace(relid)),
                                    get_rel_name(relid));
}

Oid relation_owner(Oid relid) {
  HeapTuple row = SearchSysCache1(RELOID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for relation %u", relid);
  const Oid owner = reinterpret_cast<Form_pg_class>(GETSTRUCT(row))->relowner;
  ReleaseSysCache(row);
  return owner;
}

}  // namespace snowid::pg
