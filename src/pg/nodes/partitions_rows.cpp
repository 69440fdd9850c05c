// Rows that leave the default partition for a new one. See partitions.hpp.
//
// PostgreSQL refuses a partition while the default one holds rows of it. They are deleted while the
// default partition is one of the table's, and inserted once the new one is, so that logical
// replication has both. In between they are kept in the session's work_mem, or in a file.
#include "pg/compat.hpp"
#include "pg/nodes/partitions.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

constexpr char kMovingName[] = "snowid_moving_rows";

// The columns that rows are moved with: all but the generated ones.
void columns_of(const TupleDesc all, MovingRows* moving) {
  StringInfoData names;
  initStringInfo(&names);
  int count = 0;
  const auto is_moved = [all](int at) {
    const FormData_pg_attribute* column = TupleDescAttr(all, at);
    return !column->attisdropped && column->attgenerated == '\0';
  };
  for (int at = 0; at < all->natts; at++)
    if (is_moved(at)) count++;
  moving->columns = CreateTemplateTupleDesc(count);
  AttrNumber number = 0;
  for (int at = 0; at < all->natts; at++) {
    if (!is_moved(at)) continue;
    const FormData_pg_attribute* column = TupleDescAttr(all, at);
    const char* name = NameStr(column->attname);
    number++;
    TupleDescInitEntry(moving->columns, number, name, column->atttypid, column->atttypmod, 0);
    TupleDescInitEntryCollation(moving->columns, number, column->attcollation);
    appendStringInfo(&names, "%s%s", number > 1 ? ", " : "", quote_identifier(name));
  }
  moving->names = names.data;
}

// A foreign key that forbids to delete rows and insert them again: one that refers to them, for
// that may delete what refers, or one that is checked when the transaction ends, which cannot be
// told from here. nullptr where there is none, else what it does. Those of partitions stand for
// their table's.
const char* obstacle_of(Oid partition) {
  run_statement(
      psprintf("SELECT c.conname, c.conrelid, c.confrelid OPERATOR(pg_catalog.=) a.relid"
               " FROM pg_catalog.pg_partition_ancestors(%u::pg_catalog.regclass) AS a (relid)"
               " JOIN pg_catalog.pg_constraint AS c ON c.confrelid OPERATOR(pg_catalog.=) a.relid"
               " OR (c.conrelid OPERATOR(pg_catalog.=) a.relid AND c.condeferred)"
               " WHERE c.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog.\"char\""
               " AND c.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid LIMIT 1",
               partition));
  if (SPI_processed == 0) return nullptr;
  HeapTuple row = SPI_tuptable->vals[0];
  bool is_null;
  const auto value = [row, &is_null](int number) {
    return SPI_getbinval(row, SPI_tuptable->tupdesc, number, &is_null);
  };
  const char* name = NameStr(*DatumGetName(value(1)));
  return psprintf(DatumGetBool(value(3))
                      ? "foreign key constraint \"%s\" of table \"%s\" refers to them"
                      : "foreign key constraint \"%s\" of table \"%s\" is not checked before the "
                        "transaction ends",
                  name, get_rel_name(DatumGetObjectId(value(2))));
}

uint64 count_of(const char* table, const char* condition) {
  bool is_null;
  run_statement(psprintf("SELECT pg_catalog.count(*) FROM %s WHERE %s", table, condition));
  return static_cast<uint64>(
      DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null)));
}

// Fails where rows cannot be moved.
void require_movable(Oid partition, const char* name, const char* condition) {
  const bool is_plain = get_rel_relkind(partition) == RELKIND_RELATION;
  const char* obstacle = is_plain ? obstacle_of(partition) : "it is not a plain table";
  if (obstacle == nullptr) return;
  ereport(
      ERROR,
      (errcode(is_plain ? ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST : ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("cannot move rows out of default partition \"%s\"", get_rel_name(partition)),
       errdetail("Rows that belong to a new partition: " UINT64_FORMAT ". But %s.",
                 count_of(name, condition), obstacle),
       is_plain ? errhint("Drop the constraint, create the partitions, and add it again.")
                : errhint("Move them by hand, or delete them.")));
}

// Disables a table's triggers. Returns the statements that put them back as they were.
List* triggers_off(Oid relid, const char* name) {
  List* statements = NIL;
  Relation table = relation_open(relid, NoLock);
  const TriggerDesc* triggers = table->trigdesc;
  for (int n = 0; triggers != nullptr && n < triggers->numtriggers; n++) {
    const Trigger& trigger = triggers->triggers[n];
    if (trigger.tgisinternal || trigger.tgenabled == TRIGGER_DISABLED) continue;
    const char* when = trigger.tgenabled == TRIGGER_FIRES_ALWAYS       ? "ALWAYS "
                       : trigger.tgenabled == TRIGGER_FIRES_ON_REPLICA ? "REPLICA "
                                                                       : "";
    statements = lappend(statements, psprintf("ALTER TABLE %s ENABLE %sTRIGGER %s", name, when,
                                              quote_identifier(trigger.tgname)));
  }
  relation_close(table, NoLock);
  if (statements != NIL) run_statement(psprintf("ALTER TABLE %s DISABLE TRIGGER USER", name));
  return statements;
}

void triggers_on(List* statements) {
  ListCell* cell;
  foreach (cell, statements) run_statement(static_cast<const char*>(lfirst(cell)));
}

// Runs a DELETE that returns the rows.
void keep_deleted(const char* statement, MovingRows* moving) {
  DestReceiver* receiver = CreateTuplestoreDestReceiver();
  moving->rows = tuplestore_begin_heap(false, false, work_mem);
  SetTuplestoreDestReceiverParams(receiver, moving->rows, CurrentMemoryContext, false, nullptr,
                                  nullptr);
  SPIExecuteOptions options{};
  options.dest = receiver;
  const int result = SPI_execute_extended(statement, &options);
  if (result != SPI_OK_DELETE_RETURNING)
    elog(ERROR, "SPI_execute_extended failed: %s", SPI_result_code_string(result));
  moving->count = SPI_processed;
  receiver->rDestroy(receiver);
}

}  // namespace

void rows_take(const ParentTable& parent, int64 from, int64 last, MovingRows* moving) {
  *moving = {};
  const char* name = qualified_name(parent.default_partition);
  const char* condition = psprintf("%s OPERATOR(pg_catalog.>=) " INT64_FORMAT
                                   "::pg_catalog.int8 AND"
                                   " %s OPERATOR(pg_catalog.<=) " INT64_FORMAT "::pg_catalog.int8",
                                   parent.column, from, parent.column, last);
  run_statement(psprintf("SELECT FROM %s WHERE %s LIMIT 1", name, condition));
  if (SPI_processed == 0) return;
  require_movable(parent.default_partition, name, condition);

  columns_of(parent.columns, moving);
  List* triggers = triggers_off(parent.default_partition, name);
  keep_deleted(psprintf("DELETE FROM %s WHERE %s RETURNING %s", name, condition, moving->names),
               moving);
  triggers_on(triggers);
}

void rows_put(const MovingRows& moving, Oid partition) {
  if (moving.rows == nullptr) return;
  const char* name = qualified_name(partition);
  EphemeralNamedRelationData source{};
  source.md.name = pstrdup(kMovingName);
  source.md.reliddesc = InvalidOid;
  source.md.tupdesc = moving.columns;
  source.md.enrtype = ENR_NAMED_TUPLESTORE;
  source.md.enrtuples = static_cast<double>(moving.count);
  source.reldata = moving.rows;
  if (SPI_register_relation(&source) != SPI_OK_REL_REGISTER)
    elog(ERROR, "could not register the rows to move");

  List* triggers = triggers_off(partition, name);
  run_statement(psprintf("INSERT INTO %s (%s) OVERRIDING SYSTEM VALUE SELECT %s FROM %s", name,
                         moving.names, moving.names, kMovingName));
  if (SPI_processed != moving.count)
    elog(ERROR, "of " UINT64_FORMAT " rows " UINT64_FORMAT " were moved", moving.count,
         SPI_processed);
  triggers_on(triggers);
  SPI_unregister_relation(kMovingName);
  tuplestore_end(moving.rows);
}

}  // namespace snowid::pg
