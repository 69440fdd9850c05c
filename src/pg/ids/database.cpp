// Finding and making a database's entry. See database.hpp.
#include "pg/ids/database.hpp"

#include "pg/ids/shared_number.hpp"
#include "pg/server/at_end.hpp"

namespace snowid::pg {

Database* shared_database = nullptr;

namespace {

void begin(void* entry) { BeginCeiling(&static_cast<Database*>(entry)->ceiling); }

// As this session has found it.
TransactionId row_xmin;
bool is_doubtful = false;

TransactionId find_row_xmin() {
  HeapTuple row = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
  const TransactionId xmin = HeapTupleHeaderGetRawXmin(row->t_data);
  ReleaseSysCache(row);
  return xmin;
}

// At the process's exit: counts it out. `shared_database` keeps its value, since a
// transaction may still be open and its end comes after this. The entry is there
// for as long: nobody can drop a database to which a process is connected.
void leave_database() {
  Database* left = shared_database;
  LetGo(left);
}

}  // namespace

SharedTable databases = {{"databases", SNOWID_IDS_ABI, sizeof(Oid), sizeof(Database), begin},
                         nullptr};

void database_attach() {
  if (shared_database != nullptr) return;
  at_end_subscribe(AtEndOrder::kDatabase, {nullptr, nullptr, leave_database});
  row_xmin = find_row_xmin();
  table_attach(&databases);
  bool made;
  auto* database = static_cast<Database*>(table_find_or_make(databases, &MyDatabaseId, &made));
  // With the partition's lock, which orders it with a sweep that is to remove the entry.
  database->users.fetch_add(1, std::memory_order_relaxed);
  if (made) database->row_xmin.store(row_xmin, std::memory_order_relaxed);
  is_doubtful = database->row_xmin.load(std::memory_order_acquire) != row_xmin;
  table_release(databases, database);
  shared_database = database;
  PlaceCeiling(&database->ceiling, &database->wild, &database->raises);
  number_word = &database->number;
  if (is_doubtful) database_doubt();
}

bool database_is_doubtful() { return is_doubtful; }

void database_confirm() {
  // Released after what was seen to: who acquires it finds that done.
  shared_database->row_xmin.store(row_xmin, std::memory_order_release);
  is_doubtful = false;
}

bool (*may_issue_hook)(bool fails) = nullptr;

void look_whether_it_may_issue(bool fails) {
  for (bool is_so = false; !is_so;) {
    const uint64 changes = ChangesOf(number_word->load(std::memory_order_acquire));
    if (may_issue_hook != nullptr && !may_issue_hook(fails)) return;
    // What a transaction sees that has changed the number holds for nobody else, and not for long.
    if (HasChangedNumber()) return;
    // Unless something has changed meanwhile.
    LWLockAcquire(&shared_ceiling->lock, LW_EXCLUSIVE);
    is_so = ChangesOf(number_word->load(std::memory_order_acquire)) == changes;
    if (is_so) shared_database->may_issue.store(true, std::memory_order_release);
    LWLockRelease(&shared_ceiling->lock);
  }
}

void database_doubt() {
  shared_number_change();
  LWLockAcquire(&shared_ceiling->lock, LW_EXCLUSIVE);
  shared_database->may_issue.store(false, std::memory_order_release);
  // The next ID asks.
  shared_ceiling->alert_us.store(0, std::memory_order_release);
  LWLockRelease(&shared_ceiling->lock);
}

}  // namespace snowid::pg
