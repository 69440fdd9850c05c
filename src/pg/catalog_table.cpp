#include "pg/catalog_table.hpp"

#include "pg/compat.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/skey.h"
#include "access/table.h"
#include "catalog/dependency.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_extension.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "commands/extension.h"
#include "executor/spi.h"
#include "utils/fmgroids.h"
#include "utils/inval.h"
#include "utils/snapmgr.h"
}

namespace snowid::pg {

bool belongs_to(Oid catalog, Oid object, const char* name) {
  const Oid extension = getExtensionOfObject(catalog, object);
  return OidIsValid(extension) && extension == get_extension_oid(name, true);
}

bool extension_keep(const char* name, bool waits, LOCKTAG* lock) {
  const Oid extension = get_extension_oid(name, true);
  if (!OidIsValid(extension)) return false;
  SET_LOCKTAG_OBJECT(*lock, MyDatabaseId, ExtensionRelationId, extension, 0);
  if (LockAcquire(lock, AccessShareLock, false, !waits) == LOCKACQUIRE_NOT_AVAIL) return false;
  AcceptInvalidationMessages();
  if (get_extension_oid(name, true) == extension) return true;
  LockRelease(lock, AccessShareLock, false);
  return false;
}

Oid extension_relation(const char* name) {
  const Oid schema = get_namespace_oid(kInternalSchemaName, true);
  const Oid relid = OidIsValid(schema) ? get_relname_relid(name, schema) : InvalidOid;
  return OidIsValid(relid) && is_own_relation(relid) ? relid : InvalidOid;
}

bool is_own_relation(Oid relid) { return belongs_to(RelationRelationId, relid, kExtensionName); }

bool is_own_function(Oid function, const char* name) {
  HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return false;
  const auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
  const bool is_alike = form->prolang == ClanguageId && strcmp(NameStr(form->proname), name) == 0;
  ReleaseSysCache(row);
  return is_alike && belongs_to(ProcedureRelationId, function, kExtensionName);
}

HeapTuple catalog_row(Oid catalog, Oid index, AttrNumber column, Oid oid) {
  ScanKeyData key;
  ScanKeyInit(&key, column, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(oid));
  Relation relation = table_open(catalog, AccessShareLock);
  SysScanDesc scan = systable_beginscan(relation, index, OidIsValid(index), nullptr, 1, &key);
  HeapTuple row = heap_copytuple(systable_getnext(scan));
  systable_endscan(scan);
  table_close(relation, AccessShareLock);
  return row;
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

namespace {

constexpr char kLoss[] =
    "Undo the change, or restore the database from a backup. Creating the extension again would "
    "lose the node's number, released shards, and sources.";

[[noreturn]] void report_missing(const char* name) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("relation \"%s.%s\" is missing or was replaced", kInternalSchemaName, name),
          errhint("%s", kLoss));
}

// detail, hint: sentences. hint: the statement that undoes the change, if there is one.
[[noreturn]] void report_altered(Relation relation, const char* detail, const char* hint) {
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg("table \"%s.%s\" was altered", kInternalSchemaName, RelationGetRelationName(relation)),
      errdetail_internal("%s", detail), errhint("%s", hint));
}

const char* name_of(Relation relation) { return qualified_name(RelationGetRelid(relation)); }

// Whether a column has the type, or, for InvalidOid, a type of snowid with this length.
bool is_of(Form_pg_attribute column, Oid type, int16 own_type_length) noexcept {
  if (column->attisdropped) return false;
  if (OidIsValid(type)) return column->atttypid == type;
  return column->attlen == own_type_length &&
         column->attbyval == (own_type_length <= static_cast<int16>(sizeof(Datum)));
}

void require_columns(Relation relation, const OwnTable& table) {
  TupleDesc columns = RelationGetDescr(relation);
  if (columns->natts < table.columns) report_missing(table.name);
  for (int i = 0; i < columns->natts; i++) {
    Form_pg_attribute column = TupleDescAttr(columns, i);
    const char* name = NameStr(column->attname);
    if (i >= table.columns && !column->attisdropped)
      report_altered(relation, psprintf("Column \"%s\" was added.", name),
                     psprintf("Use ALTER TABLE %s DROP COLUMN %s.", name_of(relation),
                              quote_identifier(name)));
    if (i < table.columns && !is_of(column, table.types[i], table.own_type_length))
      report_altered(relation,
                     psprintf("Column number %d was dropped, or has another type.", i + 1), kLoss);
  }
}

}  // namespace

Oid own_function(const char* name, int count, const Oid* types) {
  const Oid function =
      GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                      PointerGetDatum(buildoidvector(types, count)),
                      ObjectIdGetDatum(get_namespace_oid(kInternalSchemaName, true)));
  if (OidIsValid(function) && belongs_to(ProcedureRelationId, function, kExtensionName))
    return function;
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("function \"%s.%s\" is missing or was replaced", kInternalSchemaName, name),
          errhint("%s", kLoss));
}

Relation own_relation_open(const char* name, LOCKMODE lock) {
  Relation relation = nullptr;
  // Looked up again if it was dropped during the wait: the extension may have been created again.
  while (relation == nullptr) {
    const Oid relid = extension_relation(name);
    if (!OidIsValid(relid)) report_missing(name);
    relation = try_relation_open(relid, lock);
  }
  return relation;
}

Relation own_table_open(const OwnTable& table, LOCKMODE lock) {
  Relation relation = own_relation_open(table.name, lock);
  require_as_made(relation, table);
  return relation;
}

void require_as_made(Relation relation, const OwnTable& table) {
  const Form_pg_class description = relation->rd_rel;
  if (description->relkind != RELKIND_RELATION || description->relam != HEAP_TABLE_AM_OID)
    report_missing(table.name);
  if (description->relpersistence != RELPERSISTENCE_PERMANENT)
    report_altered(relation, "It is unlogged.",
                   psprintf("Use ALTER TABLE %s SET LOGGED.", name_of(relation)));
  require_columns(relation, table);
}

bool has_row(Relation table) {
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  const bool is_found = HeapTupleIsValid(systable_getnext(scan));
  systable_endscan(scan);
  return is_found;
}

Oid own_key_of(Relation relation) {
  list_free(RelationGetIndexList(relation));
  const Oid key = relation->rd_pkindex;
  if (!OidIsValid(key)) return InvalidOid;
  HeapTuple row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(key));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for index %u", key);
  const bool is_first = reinterpret_cast<Form_pg_index>(GETSTRUCT(row))->indkey.values[0] == 1;
  ReleaseSysCache(row);
  return is_first ? key : InvalidOid;
}

void require_no_null(Relation relation, const OwnTable& table, HeapTuple row) {
  TupleDesc columns = RelationGetDescr(relation);
  for (int i = 0; i < table.columns; i++)
    if (i + 1 != table.nullable && heap_attisnull(row, i + 1, columns))
      report_altered(
          relation,
          psprintf("A row has a null in column \"%s\".",
                   NameStr(TupleDescAttr(columns, i)->attname)),
          psprintf("Use UPDATE %s to store the value that the row had.", name_of(relation)));
}

uint64 own_table_execute(const char* table, const char* statement, int count, Oid* types,
                         Datum* values, const char* nulls) {
  // Locked first: a role allowed to drop the extension could otherwise replace the table.
  Relation relation = own_relation_open(table, RowExclusiveLock);
  const Oid owner = relation->rd_rel->relowner;
  relation_close(relation, NoLock);
  const Caller caller = role_enter(owner, SECURITY_LOCAL_USERID_CHANGE);
  SPI_connect();
  SPIPlanPtr plan = SPI_prepare(statement, count, types);
  if (plan == nullptr) elog(ERROR, "SPI_prepare: %d", SPI_result);
  const int result = SPI_execute_snapshot(plan, values, nulls, GetLatestSnapshot(), InvalidSnapshot,
                                          false, true, 0);
  if (result < 0) elog(ERROR, "SPI_execute_snapshot: %d", result);
  const uint64 processed = SPI_processed;
  SPI_finish();
  role_leave(caller);
  return processed;
}

// snowid.execute(): a statement as the owner of a user table. Planning a query, and DDL, evaluate
// functions of the owner: constants in CHECK constraints and in expressions of indexes and
// statistics. After SET ROLE they could return to the session's role. Therefore the statement runs
// as VACUUM runs such functions: with the owner's rights, in a security-restricted operation.
SNOWID_FUNCTION(snowid_execute) {
  const Oid owner = get_role_oid(NameStr(*PG_GETARG_NAME(0)), false);
  const char* statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
  const Oid kind = get_fn_expr_rettype(fcinfo->flinfo);
  if (!may_set_role(GetUserId(), owner))
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("permission denied to set role \"%s\"", GetUserNameFromId(owner, false)));
  // The owner of a table with forced row-level security reads it as another caller with rights.
  constexpr int kRestricted =
      SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS;
  const Caller caller = role_enter(owner, owner == GetUserId() ? 0 : kRestricted);
  SPI_connect();
  const int result = SPI_execute(statement, false, 0);
  if (result < 0)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot run a statement of this kind: %s", SPI_result_code_string(result)));
  bool is_null = true;
  Datum selected = Datum{0};
  if (result == SPI_OK_SELECT && SPI_processed == 1 &&
      SPI_gettypeid(SPI_tuptable->tupdesc, 1) == kind)
    selected = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  if (!is_null) selected = SPI_datumTransfer(selected, get_typbyval(kind), get_typlen(kind));
  SPI_finish();
  role_leave(caller);
  if (is_null) PG_RETURN_NULL();
  PG_RETURN_DATUM(selected);
}

void report_not_stored(const char* table) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("could not change table \"%s.%s\"", kInternalSchemaName, table),
          errdetail("A rule, trigger, or policy on it stored something else, or nothing."),
          errhint("Drop the rule, trigger, or policy."));
}

void require_permanent_sequence(Relation relation, const char* loss) {
  if (relation->rd_rel->relkind == RELKIND_SEQUENCE &&
      relation->rd_rel->relpersistence == RELPERSISTENCE_PERMANENT)
    return;
  const char* name = RelationGetRelationName(relation);
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("relation \"%s.%s\" is not a permanent sequence", kInternalSchemaName, name),
          errdetail_internal("%s", loss),
          errhint("Make it permanent with ALTER SEQUENCE %s.%s SET LOGGED.", kInternalSchemaName,
                  name));
}

SNOWID_FUNCTION(snowid_keep_extension) {
  LOCKTAG lock;
  if (!extension_keep(kExtensionName, true, &lock))
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("extension \"%s\" was dropped", kExtensionName));
  PG_RETURN_VOID();
}

const TriggerData* require_own_trigger(FunctionCallInfo fcinfo, const char* truncate_hint) {
  const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
  const bool is_truncate =
      CALLED_AS_TRIGGER(fcinfo) && TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event);
  if (!CALLED_AS_TRIGGER(fcinfo) || !TRIGGER_FIRED_BEFORE(trigger->tg_event) ||
      TRIGGER_FIRED_FOR_ROW(trigger->tg_event) == is_truncate ||
      RelationGetRelid(trigger->tg_relation) !=
          extension_relation(RelationGetRelationName(trigger->tg_relation)))
    ereport(ERROR, errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
            errmsg("function \"%s.%s\" can be called only by triggers of extension \"%s\"",
                   kInternalSchemaName, get_func_name(fcinfo->flinfo->fn_oid), kExtensionName));
  if (is_truncate)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot truncate table \"%s.%s\"", kInternalSchemaName,
                   RelationGetRelationName(trigger->tg_relation)),
            errhint("%s", truncate_hint));
  return trigger;
}

HeapTuple row_of(const TriggerData* trigger) {
  return TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple;
}

}  // namespace snowid::pg
