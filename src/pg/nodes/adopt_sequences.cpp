// Finding sequences and dropping them. See adopt_sequences.hpp.
#include "pg/nodes/adopt_sequences.hpp"

#include "pg/nodes/adopt_checks.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// What depends on a relation, described in one text; nullptr where nothing does.
const char* dependents_of(Oid relid) {
  StringInfoData list;
  initStringInfo(&list);
  ScanKeyData keys[2];
  Relation catalog = table_open(DependRelationId, AccessShareLock);
  ScanKeyInit(&keys[0], Anum_pg_depend_refclassid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(RelationRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_refobjid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(relid));
  SysScanDesc scan = systable_beginscan(catalog, DependReferenceIndexId, true, nullptr, 2, keys);
  for (;;) {
    HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const auto* depend = reinterpret_cast<Form_pg_depend>(GETSTRUCT(row));
    const ObjectAddress object = {depend->classid, depend->objid, depend->objsubid};
    appendStringInfo(&list, "%s%s", list.len > 0 ? ", " : "", getObjectDescription(&object, false));
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return list.len > 0 ? list.data : nullptr;
}

// Fails with 2BP01 where something depends on a sequence that is to go.
void require_alone(Oid sequence, const char* hint) {
  const char* dependents = dependents_of(sequence);
  if (dependents == nullptr) return;
  ereport(ERROR,
          (errcode(ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST),
           errmsg("cannot drop sequence \"%s\", which others depend on", get_rel_name(sequence)),
           errdetail("These depend on it: %s.", dependents), errhint("%s", hint)));
}

// Whether the default of a column depends on a sequence.
bool default_draws_from(Oid relid, AttrNumber column, Oid sequence) {
  const Oid value = GetAttrDefaultOid(relid, column);
  if (!OidIsValid(value)) return false;
  bool draws = false;
  ScanKeyData keys[2];
  Relation catalog = table_open(DependRelationId, AccessShareLock);
  ScanKeyInit(&keys[0], Anum_pg_depend_classid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(AttrDefaultRelationId));
  ScanKeyInit(&keys[1], Anum_pg_depend_objid, BTEqualStrategyNumber, F_OIDEQ,
              ObjectIdGetDatum(value));
  SysScanDesc scan = systable_beginscan(catalog, DependDependerIndexId, true, nullptr, 2, keys);
  for (;;) {
    HeapTuple row = systable_getnext(scan);
    if (!HeapTupleIsValid(row)) break;
    const auto* depend = reinterpret_cast<Form_pg_depend>(GETSTRUCT(row));
    draws |= depend->refclassid == RelationRelationId && depend->refobjid == sequence;
  }
  systable_endscan(scan);
  table_close(catalog, AccessShareLock);
  return draws;
}

// The sequences that depend on a column in this way, as pg_depend calls it.
List* sequences_of(Oid relid, AttrNumber column, char depend_type) {
  List* found = NIL;
  const List* owned = getOwnedSequences(relid);
  for (int i = 0; i < list_length(owned); i++) {
    const Oid sequence = list_nth_oid(owned, i);
    Oid owner;
    int32 number;
    if (sequenceIsOwned(sequence, depend_type, &owner, &number) && owner == relid &&
        number == column)
      found = lappend_oid(found, sequence);
  }
  return found;
}

char identity_of(Oid relid, AttrNumber column) {
  HeapTuple row = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relid), Int16GetDatum(column));
  if (!HeapTupleIsValid(row))
    elog(ERROR, "cache lookup failed for attribute %d of relation %u", column, relid);
  const char identity = reinterpret_cast<Form_pg_attribute>(GETSTRUCT(row))->attidentity;
  ReleaseSysCache(row);
  return identity;
}

}  // namespace

List* serial_sequences(const List* tables, const char* column) {
  List* serial = NIL;
  for (int i = 0; i < list_length(tables); i++) {
    const Oid relid = list_nth_oid(tables, i);
    const AttrNumber number = get_attnum(relid, column);
    const List* owned = sequences_of(relid, number, DEPENDENCY_AUTO);
    for (int j = 0; j < list_length(owned); j++) {
      const Oid sequence = list_nth_oid(owned, j);
      if (default_draws_from(relid, number, sequence))
        serial = lappend_oid(serial, sequence);
      else
        ereport(NOTICE, (errmsg("sequence \"%s\" is left", get_rel_name(sequence)),
                         errdetail("Column \"%s\" of relation \"%s\" owns it, and its default does "
                                   "not draw from it.",
                                   column, get_rel_name(relid))));
    }
  }
  return serial;
}

void drop_identities(const List* tables, const char* column) {
  for (int i = 0; i < list_length(tables); i++) {
    const Oid relid = list_nth_oid(tables, i);
    const AttrNumber number = get_attnum(relid, column);
    // From PostgreSQL 17 on partitions have that of their table, and lose it with that.
    if (identity_of(relid, number) == '\0') continue;
    const List* owned = sequences_of(relid, number, DEPENDENCY_INTERNAL);
    for (int j = 0; j < list_length(owned); j++)
      require_alone(list_nth_oid(owned, j), "Let these draw from something else before.");
    SPI_execute(psprintf("ALTER TABLE %s ALTER COLUMN %s DROP IDENTITY", qualified_name(relid),
                         quote_identifier(column)),
                false, 0);
  }
}

void drop_sequences(const List* sequences) {
  for (int i = 0; i < list_length(sequences); i++) {
    const Oid sequence = list_nth_oid(sequences, i);
    const char* name = qualified_name(sequence);
    require_alone(sequence,
                  psprintf("Let these draw from something else before; or keep the sequence, by "
                           "ALTER SEQUENCE %s OWNED BY NONE.",
                           name));
    SPI_execute(psprintf("DROP SEQUENCE %s", name), false, 0);
  }
}

}  // namespace snowid::pg
