// Opening the extension's own tables, and their triggers. See own_table.hpp.
#include "pg/server/own_table.hpp"

#include "pg/compat.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

[[noreturn]] void report_altered(const char* name) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("relation \"%s.%s\" is missing or was altered", kInternalSchemaName, name),
                  errhint("Undo the change. Creating the extension again would lose the node's "
                          "number, released shards and sources.")));
  pg_unreachable();
}

Relation open_relation(const char* name, LOCKMODE lock) {
  const Oid relid = extension_relation(name);
  Relation relation = OidIsValid(relid) ? try_relation_open(relid, lock) : nullptr;
  if (relation == nullptr) report_altered(name);
  return relation;
}

// Whether a column is of the type, or of one of snowid's types, which has this length.
bool IsOf(Form_pg_attribute column, Oid type, int16 own_type_length) {
  if (OidIsValid(type)) return column->atttypid == type;
  return column->attlen == own_type_length &&
         column->attbyval == (own_type_length <= static_cast<int16>(sizeof(Datum)));
}

bool is_own_trigger(FunctionCallInfo fcinfo) {
  if (!CALLED_AS_TRIGGER(fcinfo)) return false;
  const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
  return TRIGGER_FIRED_BEFORE(trigger->tg_event) &&
         TRIGGER_FIRED_FOR_ROW(trigger->tg_event) != TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event) &&
         RelationGetRelid(trigger->tg_relation) ==
             extension_relation(RelationGetRelationName(trigger->tg_relation));
}

}  // namespace

Relation own_table_open(const OwnTable& table, LOCKMODE lock) {
  Relation relation = open_relation(table.name, lock);
  require_as_made(relation, table);
  return relation;
}

void require_as_made(Relation relation, const OwnTable& table) {
  TupleDesc columns = RelationGetDescr(relation);
  bool is_right = relation->rd_rel->relkind == RELKIND_RELATION &&
                  relation->rd_rel->relam == HEAP_TABLE_AM_OID && columns->natts == table.columns;
  for (int i = 0; is_right && i < table.columns; i++)
    is_right = IsOf(TupleDescAttr(columns, i), table.types[i], table.own_type_length);
  if (!is_right) report_altered(table.name);
}

Relation own_sequence_open(const char* name, LOCKMODE lock) {
  Relation relation = open_relation(name, lock);
  if (relation->rd_rel->relkind != RELKIND_SEQUENCE ||
      relation->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
    report_altered(name);
  return relation;
}

const TriggerData* require_own_trigger(FunctionCallInfo fcinfo, const char* function,
                                       const char* truncate_hint) {
  if (!is_own_trigger(fcinfo))
    ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                    errmsg("function \"%s.%s\" can be called only by triggers of extension \"%s\"",
                           kInternalSchemaName, function, kExtensionName)));
  const auto* trigger = reinterpret_cast<TriggerData*>(fcinfo->context);
  if (TRIGGER_FIRED_BY_TRUNCATE(trigger->tg_event))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot truncate table \"%s.%s\"", kInternalSchemaName,
                           RelationGetRelationName(trigger->tg_relation)),
                    errhint("%s", truncate_hint)));
  return trigger;
}

const TriggerData* require_own_insertion(FunctionCallInfo fcinfo, const char* function,
                                         const char* hint) {
  const TriggerData* trigger = require_own_trigger(fcinfo, function, hint);
  if (IsLogicalWorker()) return nullptr;
  if (!TRIGGER_FIRED_BY_INSERT(trigger->tg_event))
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("cannot update or delete rows of table \"%s.%s\"", kInternalSchemaName,
                           RelationGetRelationName(trigger->tg_relation)),
                    errhint("%s", hint)));
  return trigger;
}

HeapTuple row_of(const TriggerData* trigger) {
  return TRIGGER_FIRED_BY_UPDATE(trigger->tg_event) ? trigger->tg_newtuple : trigger->tg_trigtuple;
}

}  // namespace snowid::pg
