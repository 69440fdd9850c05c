// Opening the extension's own tables, and their triggers. See own_table.hpp.
#include "pg/server/own_table.hpp"

#include "pg/compat.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

constexpr char kLoss[] =
    "Undo the change, or restore the database from a backup. Creating the extension again would "
    "lose the node's number, released shards, and sources.";

// The trigger BEFORE TRUNCATE of each of these tables.
constexpr char kTruncateTrigger[] = "refuse_truncate";

[[noreturn]] void report_missing(const char* name) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("relation \"%s.%s\" is missing or was replaced", kInternalSchemaName, name),
           errhint("%s", kLoss)));
  pg_unreachable();
}

// detail: a sentence. hint: a sentence with the statement that undoes the change, nullptr where no
// single one does.
[[noreturn]] void report_altered(Relation relation, const char* detail, const char* hint) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("table \"%s.%s\" was altered", kInternalSchemaName,
                         RelationGetRelationName(relation)),
                  errdetail_internal("%s", detail), errhint("%s", hint == nullptr ? kLoss : hint)));
  pg_unreachable();
}

Relation open_relation(const char* name, LOCKMODE lock) {
  const Oid relid = extension_relation(name);
  Relation relation = OidIsValid(relid) ? try_relation_open(relid, lock) : nullptr;
  if (relation == nullptr) report_missing(name);
  return relation;
}

const char* name_of(Relation relation) { return qualified_name(RelationGetRelid(relation)); }

// "ALTER TABLE …" of a column, as a hint. action: what follows the column's name, with a space.
const char* column_hint(Relation relation, Form_pg_attribute column, const char* action) {
  return psprintf("Use ALTER TABLE %s ALTER COLUMN %s%s.", name_of(relation),
                  quote_identifier(NameStr(column->attname)), action);
}

// The first columns, comma-separated.
const char* column_names(Relation relation, int count) {
  StringInfoData names;
  initStringInfo(&names);
  for (int i = 0; i < count; i++)
    appendStringInfo(
        &names, "%s%s", i == 0 ? "" : ", ",
        quote_identifier(NameStr(TupleDescAttr(RelationGetDescr(relation), i)->attname)));
  return names.data;
}

const char* drop_constraint_hint(Oid oid) {
  HeapTuple row = SearchSysCache1(CONSTROID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for constraint %u", oid);
  const auto* constraint = reinterpret_cast<Form_pg_constraint>(GETSTRUCT(row));
  const char* hint =
      psprintf("Use ALTER TABLE %s DROP CONSTRAINT %s.", qualified_name(constraint->conrelid),
               quote_identifier(NameStr(constraint->conname)));
  ReleaseSysCache(row);
  return hint;
}

// "DROP …" of a trigger or a rule.
const char* drop_hint(const char* kind, Oid catalog, Oid object) {
  const ObjectAddress address = {catalog, object, 0};
  return psprintf("Use DROP %s %s.", kind, getObjectIdentity(&address, false));
}

// Whether a column is of the type, or of one of snowid's types, which has this length.
bool IsOf(Form_pg_attribute column, Oid type, int16 own_type_length) {
  if (column->attisdropped) return false;
  if (OidIsValid(type)) return column->atttypid == type;
  return column->attlen == own_type_length &&
         column->attbyval == (own_type_length <= static_cast<int16>(sizeof(Datum)));
}

// Columns that were added, and dropped again, do no harm.
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
    if (i >= table.columns || IsOf(column, table.types[i], table.own_type_length)) continue;
    if (column->attisdropped)
      report_altered(relation, psprintf("Column number %d was dropped.", i + 1), nullptr);
    const char* type = OidIsValid(table.types[i]) ? format_type_be(table.types[i]) : nullptr;
    report_altered(
        relation, psprintf("Column \"%s\" has type %s.", name, format_type_be(column->atttypid)),
        type == nullptr
            ? nullptr
            : column_hint(relation, column,
                          psprintf(" TYPE %s USING %s::%s", type, quote_identifier(name), type)));
  }
}

void require_not_null_constraints(Relation relation, const OwnTable& table) {
  for (int i = 0; i < table.columns; i++) {
    Form_pg_attribute column = TupleDescAttr(RelationGetDescr(relation), i);
    const bool may_be_null = i + 1 == table.nullable;
    if (column->attnotnull != may_be_null) continue;
    report_altered(relation,
                   psprintf(may_be_null ? "Column \"%s\" must be able to hold nulls."
                                        : "Column \"%s\" has no NOT NULL constraint.",
                            NameStr(column->attname)),
                   column_hint(relation, column, may_be_null ? " DROP NOT NULL" : " SET NOT NULL"));
  }
}

// Whether an index is on the columns of the primary key and on nothing else. REINDEX CONCURRENTLY
// makes a second one of these for a while.
bool is_on_key(Oid oid, const OwnTable& table) {
  HeapTuple row = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(oid));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for index %u", oid);
  const auto* index = reinterpret_cast<Form_pg_index>(GETSTRUCT(row));
  bool is_right = index->indisunique && index->indimmediate && !index->indisexclusion &&
                  index->indnatts == table.key_columns &&
                  heap_attisnull(row, Anum_pg_index_indpred, nullptr);
  for (int i = 0; is_right && i < table.key_columns; i++)
    is_right = index->indkey.values[i] == i + 1;
  ReleaseSysCache(row);
  return is_right;
}

// What stores rows computes no expressions and no conditions of indexes.
void require_indexes(Relation relation, const OwnTable& table) {
  ListCell* cell;
  List* indexes = RelationGetIndexList(relation);
  foreach (cell, indexes) {
    const Oid index = lfirst_oid(cell);
    if (is_on_key(index, table)) continue;
    const Oid constraint = get_index_constraint(index);
    report_altered(relation, psprintf("Index \"%s\" was added.", get_rel_name(index)),
                   OidIsValid(constraint) ? drop_constraint_hint(constraint)
                                          : psprintf("Use DROP INDEX %s.", qualified_name(index)));
  }
  list_free(indexes);
  if (!OidIsValid(own_key_of(relation, table)))
    report_altered(relation, "It has no primary key.",
                   psprintf("Use ALTER TABLE %s ADD PRIMARY KEY (%s).", name_of(relation),
                            column_names(relation, table.key_columns)));
}

// A trigger of the script's: named as its function, or BEFORE TRUNCATE.
void require_own_trigger_of(Relation relation, const OwnTable& table, const char* name,
                            const char* event) {
  const TriggerDesc* triggers = relation->trigdesc;
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; i++) {
    if (strcmp(triggers->triggers[i].tgname, name) != 0) continue;
    if (triggers->triggers[i].tgenabled == TRIGGER_FIRES_ALWAYS) return;
    report_altered(
        relation, psprintf("Trigger \"%s\" does not fire always.", name),
        psprintf("Use ALTER TABLE %s ENABLE ALWAYS TRIGGER %s.", name_of(relation), name));
  }
  report_altered(relation, psprintf("Trigger \"%s\" is missing.", name),
                 psprintf("Use CREATE TRIGGER %s BEFORE %s EXECUTE FUNCTION %s.%s().", name,
                          psprintf(event, name_of(relation)), kInternalSchemaName, table.trigger));
}

// No trigger is called by what stores rows, not even a foreign key's.
void require_triggers(Relation relation, const OwnTable& table) {
  const TriggerDesc* triggers = relation->trigdesc;
  for (int i = 0; triggers != nullptr && i < triggers->numtriggers; i++) {
    const Trigger& trigger = triggers->triggers[i];
    if (trigger.tgisinternal)
      report_altered(relation, "A foreign key was added.",
                     drop_constraint_hint(trigger.tgconstraint));
    if (strcmp(trigger.tgname, table.trigger) != 0 && strcmp(trigger.tgname, kTruncateTrigger) != 0)
      report_altered(relation, psprintf("Trigger \"%s\" was added.", trigger.tgname),
                     drop_hint("TRIGGER", TriggerRelationId, trigger.tgoid));
  }
  require_own_trigger_of(relation, table, table.trigger,
                         "INSERT OR UPDATE OR DELETE ON %s FOR EACH ROW");
  require_own_trigger_of(relation, table, kTruncateTrigger, "TRUNCATE ON %s FOR EACH STATEMENT");
}

// What else would have PostgreSQL itself store other rows, or refuse some, or look elsewhere for
// them.
void require_plain(Relation relation, const OwnTable& table) {
  const Form_pg_class description = relation->rd_rel;
  if (relation->rd_rules != nullptr)
    report_altered(relation, "A rule was added.",
                   drop_hint("RULE", RewriteRelationId, relation->rd_rules->rules[0]->ruleId));
  if (description->relrowsecurity)
    report_altered(relation, "It has row-level security.",
                   psprintf("Use ALTER TABLE %s DISABLE ROW LEVEL SECURITY.", name_of(relation)));
  if (description->relispartition)
    report_altered(relation, "It is a partition.",
                   psprintf("Use ALTER TABLE %s DETACH PARTITION %s.",
                            qualified_name(get_partition_parent(RelationGetRelid(relation), true)),
                            name_of(relation)));
  const List* children = find_inheritance_children(RelationGetRelid(relation), NoLock);
  if (children != NIL)
    report_altered(relation, "Another table inherits from it.",
                   psprintf("Use ALTER TABLE %s NO INHERIT %s.",
                            qualified_name(linitial_oid(children)), name_of(relation)));
  if (description->relchecks != table.checks)
    report_altered(relation,
                   psprintf("It has %d CHECK constraints in place of %d.", description->relchecks,
                            table.checks),
                   nullptr);
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
  require_as_made(relation, table, lock);
  return relation;
}

void require_as_made(Relation relation, const OwnTable& table, LOCKMODE lock) {
  const Form_pg_class description = relation->rd_rel;
  if (description->relkind != RELKIND_RELATION || description->relam != HEAP_TABLE_AM_OID)
    report_missing(table.name);
  if (description->relpersistence != RELPERSISTENCE_PERMANENT)
    report_altered(relation, "It is unlogged.",
                   psprintf("Use ALTER TABLE %s SET LOGGED.", name_of(relation)));
  require_columns(relation, table);
  if (lock < RowExclusiveLock) return;
  require_not_null_constraints(relation, table);
  require_indexes(relation, table);
  require_triggers(relation, table);
  require_plain(relation, table);
}

Oid own_key_of(Relation relation, const OwnTable& table) {
  list_free(RelationGetIndexList(relation));
  const Oid key = relation->rd_pkindex;
  return OidIsValid(key) && is_on_key(key, table) ? key : InvalidOid;
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

HeapTuple own_row_form(Relation relation, const OwnTable& table, const Datum* values,
                       const bool* nulls) {
  const int count = RelationGetDescr(relation)->natts;
  auto* all_values = static_cast<Datum*>(palloc0(count * sizeof(Datum)));
  auto* all_nulls = static_cast<bool*>(palloc(count * sizeof(bool)));
  std::fill_n(all_nulls, count, true);
  std::copy_n(values, table.columns, all_values);
  std::copy_n(nulls, table.columns, all_nulls);
  return heap_form_tuple(RelationGetDescr(relation), all_values, all_nulls);
}

Relation own_sequence_open(const char* name, LOCKMODE lock) {
  Relation relation = open_relation(name, lock);
  if (relation->rd_rel->relkind != RELKIND_SEQUENCE ||
      relation->rd_rel->relpersistence != RELPERSISTENCE_PERMANENT)
    report_missing(name);
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
