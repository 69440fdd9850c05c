// Reading the greatest key. See adopt_greatest.hpp. It is done without SQL: a query would heed the
// table's policies and the transaction's snapshot, which both may hide rows, and the planner's
// settings, by which it may scan the table all the same.
#include "pg/nodes/adopt_greatest.hpp"

#include "pg/compat.hpp"
#include "pg/server/extension.hpp"

namespace snowid::pg {

namespace {

// Tables of up to so many pages, 8 MB, are read as a whole where no index tells: some milliseconds.
constexpr BlockNumber kMostPages = 1024;

// Whether an index has all rows in the order of their bigints in this column. One that older
// snapshots must not use yet (indcheckxmin) is as good: of the rows that are visible now it has
// the right keys.
bool is_in_order(Relation index, AttrNumber column) {
  return index->rd_index->indisvalid && index->rd_rel->relam == BTREE_AM_OID &&
         index->rd_index->indkey.values[0] == column &&
         index->rd_opfamily[0] == INTEGER_BTREE_FAM_OID && RelationGetIndexPredicate(index) == NIL;
}

// An index that is_in_order(), opened; nullptr where there is none.
Relation open_index(Relation table, AttrNumber column) {
  const List* indexes = RelationGetIndexList(table);
  for (int i = 0; i < list_length(indexes); i++) {
    Relation index = index_open(list_nth_oid(indexes, i), AccessShareLock);
    if (is_in_order(index, column)) return index;
    index_close(index, AccessShareLock);
  }
  return nullptr;
}

// The last entry that is not null and whose row is visible.
bool greatest_of_index(Relation table, Relation index, AttrNumber column, Snapshot snapshot,
                       int64* key) {
  ScanKeyData not_null;
  ScanKeyEntryInitialize(&not_null, SK_ISNULL | SK_SEARCHNOTNULL, 1, InvalidStrategy, InvalidOid,
                         InvalidOid, InvalidOid, Datum{0});
  const bool is_descending = (index->rd_indoption[0] & INDOPTION_DESC) != 0;
  TupleTableSlot* row = table_slot_create(table, nullptr);
  IndexScanDesc scan = begin_index_scan(table, index, snapshot, 1);
  index_rescan(scan, &not_null, 1, nullptr, 0);
  const bool found =
      index_getnext_slot(scan, is_descending ? ForwardScanDirection : BackwardScanDirection, row);
  bool is_null = true;
  if (found) *key = DatumGetInt64(slot_getattr(row, column, &is_null));
  index_endscan(scan);
  ExecDropSingleTupleTableSlot(row);
  return found && !is_null;
}

bool greatest_of_rows(Relation table, AttrNumber column, Snapshot snapshot, int64* key) {
  bool found = false;
  TupleTableSlot* row = table_slot_create(table, nullptr);
  TableScanDesc scan = table_beginscan(table, snapshot, 0, nullptr);
  while (table_scan_getnextslot(scan, ForwardScanDirection, row)) {
    bool is_null;
    const int64 value = DatumGetInt64(slot_getattr(row, column, &is_null));
    if (is_null || (found && value <= *key)) continue;
    *key = value;
    found = true;
  }
  table_endscan(scan);
  ExecDropSingleTupleTableSlot(row);
  return found;
}

[[noreturn]] void report_no_index(Relation table, const char* column) {
  const char* name = RelationGetRelationName(table);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("no index tells the greatest \"%s\" of table \"%s\"", column, name),
           errdetail("The whole table would have to be read while it is locked."),
           errhint("Use CREATE INDEX CONCURRENTLY ON %s (%s). The index may be dropped afterwards.",
                   qualified_name(RelationGetRelid(table)), quote_identifier(column))));
  pg_unreachable();
}

}  // namespace

bool greatest_key(Oid relid, const char* column, int64* key) {
  Relation table = table_open(relid, NoLock);
  const AttrNumber number = get_attnum(relid, column);
  Relation index = open_index(table, number);
  Snapshot snapshot = RegisterSnapshot(GetLatestSnapshot());
  bool found;
  if (index != nullptr) {
    found = greatest_of_index(table, index, number, snapshot, key);
    index_close(index, AccessShareLock);
  } else {
    if (RelationGetNumberOfBlocks(table) > kMostPages) report_no_index(table, column);
    found = greatest_of_rows(table, number, snapshot, key);
  }
  UnregisterSnapshot(snapshot);
  table_close(table, NoLock);
  return found;
}

}  // namespace snowid::pg
