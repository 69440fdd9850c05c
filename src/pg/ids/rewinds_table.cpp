// Reading and writing the table. See rewinds_table.hpp.
#include "pg/ids/rewinds_table.hpp"

#include "pg/base/clock.hpp"
#include "pg/compat.hpp"
#include "pg/ids/database.hpp"
#include "pg/server/extension.hpp"
#include "pg/server/own_table.hpp"

namespace snowid::pg {

bool rewinds_inserted = false;

namespace {

// The columns of snowid.rewinds.
enum Column : AttrNumber {
  kFrom = 1,
  kUntil,
  kRewoundTo,
  kColumns = kRewoundTo,
};
constexpr Oid kTypes[kColumns] = {TIMESTAMPTZOID, TIMESTAMPTZOID, TIMESTAMPTZOID};
constexpr OwnTable kRewinds = {"rewinds", kTypes, kColumns, 0};

// Whether this transaction has inserted rows that others do not know.
bool is_news = false;

void at_end(XactEvent event, void*) {
  // Its commit would not be heard of here.
  if (event == XACT_EVENT_PRE_PREPARE && is_news)
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot prepare a transaction that has inserted rows into table \"%s.%s\"",
                    kOwnSchemaName, kRewinds.name)));
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
    return;
  rewinds_inserted = false;
  if (!is_news) return;
  is_news = false;
  // Whoever raises the ceiling next looks at the rows: the next ID has it raised.
  shared_database->wild_news.fetch_add(1, std::memory_order_acq_rel);
  shared_database->alert_us.store(0, std::memory_order_release);
}

void note_insertion() {
  static bool is_registered = false;
  if (!is_registered) {
    RegisterXactCallback(at_end, nullptr);
    is_registered = true;
  }
  database_attach();
  rewinds_inserted = is_news = true;
}

// Returns false for a row that nobody but a superuser can have made.
bool read_row(HeapTuple row, TupleDesc columns, core::Wild* wild) {
  int64 moments[kColumns];
  for (AttrNumber column = kFrom; column <= kColumns; column++) {
    bool is_null;
    const TimestampTz moment = DatumGetTimestampTz(heap_getattr(row, column, columns, &is_null));
    if (is_null || TIMESTAMP_NOT_FINITE(moment)) return false;
    moments[column - 1] = from_timestamptz(moment).value;
  }
  *wild = {{moments[kFrom - 1]}, {moments[kUntil - 1]}, {moments[kRewoundTo - 1]}};
  return wild->from <= wild->until;
}

}  // namespace

core::WildTimes rewinds_read() {
  core::WildTimes times{};
  Relation table = own_table_open(kRewinds, AccessShareLock);
  // A snapshot of its own, since the caller's may be older than the rows.
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  for (HeapTuple row; HeapTupleIsValid(row = systable_getnext(scan));) {
    core::Wild wild;
    if (read_row(row, RelationGetDescr(table), &wild)) AddWild(&times, wild);
  }
  systable_endscan(scan);
  table_close(table, AccessShareLock);
  rewinds_inserted = false;
  return times;
}

void rewinds_insert(const core::Wild& wild) {
  Relation table = own_table_open(kRewinds, RowExclusiveLock);
  Datum values[kColumns] = {TimestampTzGetDatum(to_timestamptz(wild.from)),
                            TimestampTzGetDatum(to_timestamptz(wild.until)),
                            TimestampTzGetDatum(to_timestamptz(wild.rewound_to))};
  bool nulls[kColumns] = {};
  CatalogTupleInsert(table, heap_form_tuple(RelationGetDescr(table), values, nulls));
  table_close(table, NoLock);
  CommandCounterIncrement();
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_check_rewind);

// The trigger on snowid.rewinds. Rows that are inserted, as by a restore, count from the end of the
// transaction on, and for itself at once. Rows that logical replication brings are about another
// database's IDs, and are skipped.
Datum snowid_check_rewind(PG_FUNCTION_ARGS) {
  constexpr char kHint[] = "What was wild once stays so: it may have IDs.";
  const TriggerData* trigger = require_own_insertion(fcinfo, "check_rewind", kHint);
  if (trigger == nullptr) PG_RETURN_POINTER(nullptr);
  require_as_made(trigger->tg_relation, kRewinds);
  note_insertion();
  PG_RETURN_POINTER(trigger->tg_trigtuple);
}
}
