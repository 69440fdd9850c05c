// Finding and making a database's entry. See entry.hpp.
#include "pg/database/entry.hpp"

namespace snowid::pg {

Database* shared_database = nullptr;
Ceiling* my_ceiling = nullptr;
Ceiling* shared_ceiling = nullptr;
SharedWild* shared_wild = nullptr;
RaiseCounts* raise_counts = nullptr;

namespace {

// number_word before database_attach().
constinit std::atomic<uint64_t> own_number_word{0};

void begin_database(void* entry) {
  LWLockInitialize(&static_cast<Database*>(entry)->ceiling.lock, shared_tranche);
}

// The xmin of the row of pg_database, and what database_may_be_another() returns.
TransactionId row_xmin;
bool may_be_another = false;

TransactionId find_row_xmin() {
  HeapTuple row = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
  const TransactionId xmin = HeapTupleHeaderGetRawXmin(row->t_data);
  ReleaseSysCache(row);
  return xmin;
}

}  // namespace

std::atomic<uint64_t>* number_word = &own_number_word;

SharedTable databases = {
    {"databases", SNOWID_IDS_ABI, sizeof(Oid), sizeof(Database), begin_database}, nullptr};

void database_attach() {
  if (shared_database != nullptr) return;
  row_xmin = find_row_xmin();
  table_attach(&databases);
  bool made;
  auto* database = static_cast<Database*>(table_find_or_make(databases, &MyDatabaseId, &made));
  // With the partition's lock, which orders it with a sweep that is to remove the entry.
  database->users.fetch_add(1, std::memory_order_relaxed);
  if (made) database->row_xmin.store(row_xmin, std::memory_order_relaxed);
  may_be_another = database->row_xmin.load(std::memory_order_acquire) != row_xmin;
  table_release(databases, database);
  shared_database = database;
  my_ceiling = shared_ceiling = &database->ceiling;
  shared_wild = &database->wild;
  raise_counts = &database->raises;
  number_word = &database->number;
  if (may_be_another) recheck_may_issue();
}

// Called at the exit of the process: counts it out. `shared_database` stays set, since a
// transaction may still be open, which ends after this. The entry exists until then: nobody can
// drop a database to which a process is connected.
void at_exit_database() {
  Database* left = shared_database;
  let_go(left);
}

bool database_may_be_another() { return may_be_another; }

void database_confirm() {
  // Released after the slots were closed: a session that acquires it finds them closed.
  shared_database->row_xmin.store(row_xmin, std::memory_order_release);
  may_be_another = false;
}

void count_number_change() noexcept {
  uint64_t word = number_word->load(std::memory_order_relaxed);
  while (!number_word->compare_exchange_weak(word, (changes_of(word) + 1) << kSharedNumberBits,
                                             std::memory_order_acq_rel)) {
  }
}

void recheck_may_issue() {
  database_attach();
  count_number_change();
  LWLockAcquire(&shared_ceiling->lock, LW_EXCLUSIVE);
  shared_database->may_issue.store(false, std::memory_order_release);
  // So that the next ID of each session takes the slow path, which checks.
  shared_ceiling->alert_us.store(0, std::memory_order_release);
  LWLockRelease(&shared_ceiling->lock);
}

}  // namespace snowid::pg
