#include "pg/database/database.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/parallel.h"
#include "access/xlog.h"
#include "utils/syscache.h"
}

namespace snowid::pg {

Database* shared_database = nullptr;
Ceiling* my_ceiling = nullptr;

namespace {

// The value of number_word before slots_attach().
constinit std::atomic<uint64_t> own_number_word{0};

// The xmin of this database's row of pg_database, and the result of database_may_be_another().
TransactionId row_xmin;
bool may_be_another = false;

bool has_changed = false;

constexpr uint64 kNumberMask = (uint64{1} << kSharedNumberBits) - 1;

TransactionId find_row_xmin() {
  HeapTuple row = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));
  if (!HeapTupleIsValid(row)) elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
  const TransactionId xmin = HeapTupleHeaderGetRawXmin(row->t_data);
  ReleaseSysCache(row);
  return xmin;
}

// Increments the number of changes and clears the node number.
void count_number_change() noexcept {
  uint64_t word = number_word->load(std::memory_order_relaxed);
  while (!number_word->compare_exchange_weak(word, (changes_of(word) + 1) << kSharedNumberBits,
                                             std::memory_order_acq_rel)) {
  }
}

// Whether the word's number may differ from this transaction's.
bool has_other_number() { return has_changed || IsParallelWorker() || RecoveryInProgress(); }

}  // namespace

std::atomic<uint64_t>* number_word = &own_number_word;

SharedTable databases = {"databases", SNOWID_IDS_ABI, sizeof(Oid), sizeof(Database)};
SharedTable slots = {"slots", SNOWID_IDS_ABI, kSlotKeySize, sizeof(Slot)};

void slots_attach() {
  if (shared_database != nullptr) return;
  row_xmin = find_row_xmin();
  table_attach(&databases);
  table_attach(&slots);
  bool made;
  auto* database = static_cast<Database*>(table_find_or_make(databases, &MyDatabaseId, &made));
  // Under the partition's lock, which orders it with a sweep about to remove the entry.
  database->users.fetch_add(1, std::memory_order_relaxed);
  if (made) {
    LWLockInitialize(&database->ceiling.lock, tranche_of(Tranche::kCeiling));
    database->row_xmin.store(row_xmin, std::memory_order_relaxed);
  }
  may_be_another = database->row_xmin.load(std::memory_order_acquire) != row_xmin;
  dshash_release_lock(databases.attached, database);
  shared_database = database;
  my_ceiling = &database->ceiling;
  number_word = &database->number;
  if (may_be_another) recheck_may_issue();
}

// An open transaction ends later: `shared_database` stays set. Its entry exists until then, because
// a database with a connected process cannot be dropped.
void at_exit_database() {
  Database* left = shared_database;
  let_go(left);
}

bool database_may_be_another() { return may_be_another; }

void database_confirm() {
  // Release after closing the slots: a session that acquires it finds them closed.
  shared_database->row_xmin.store(row_xmin, std::memory_order_release);
  may_be_another = false;
}

void database_doubt() {
  shared_database->row_xmin.store(InvalidTransactionId, std::memory_order_release);
  may_be_another = true;
}

void recheck_may_issue() {
  slots_attach();
  count_number_change();
  Ceiling* ceiling = &shared_database->ceiling;
  LWLockAcquire(&ceiling->lock, LW_EXCLUSIVE);
  shared_database->may_issue.store(false, std::memory_order_release);
  // Forces each session's next ID to the slow path, which checks.
  ceiling->alert_us.store(0, std::memory_order_release);
  LWLockRelease(&ceiling->lock);
}

bool shared_number_recall(int64* number) {
  if (has_other_number()) return false;
  slots_attach();
  const uint64 stored = number_word->load(std::memory_order_acquire) & kNumberMask;
  *number = static_cast<int64>(stored) - 1;
  return stored > 0;
}

void shared_number_store(uint64 changes, int64 number) {
  Assert(number >= 0);
  if (has_other_number() || static_cast<uint64>(number) >= kNumberMask) return;
  uint64_t word = changes << kSharedNumberBits;
  number_word->compare_exchange_strong(word, word | (static_cast<uint64>(number) + 1),
                                       std::memory_order_acq_rel);
}

void shared_number_change_with_transaction() {
  slots_attach();
  count_number_change();
  has_changed = true;
}

void at_eoxact_shared_number(XactEvent event) {
  if (!has_changed) return;
  if (event != XACT_EVENT_COMMIT && event != XACT_EVENT_ABORT && event != XACT_EVENT_PREPARE)
    return;
  has_changed = false;
  count_number_change();
}

void check_may_issue(bool fails) {
  for (bool is_noted = false; !is_noted;) {
    const uint64 changes = changes_of(number_word->load(std::memory_order_acquire));
    if (!node_may_issue(fails)) return;
    // A transaction that changed the number sees a value that other sessions may never see.
    if (has_changed) return;
    // After a change since, check again.
    LWLockAcquire(&shared_database->ceiling.lock, LW_EXCLUSIVE);
    is_noted = changes_of(number_word->load(std::memory_order_acquire)) == changes;
    if (is_noted) shared_database->may_issue.store(true, std::memory_order_release);
    LWLockRelease(&shared_database->ceiling.lock);
  }
}

SlotKey slot_key_of(const core::Layout& layout, int64 shard) noexcept {
  return {layout.spec, static_cast<uint64>(shard), MyDatabaseId};
}

const core::Layout& slot_layout(const Slot* slot, core::Layout* recent) noexcept {
  if (!(slot->key.layout == recent->spec)) *recent = core::make_layout(slot->key.layout);
  return *recent;
}

core::SlotStart slot_start_of(const Database* database) noexcept {
  return {{database->ceiling.floor_us.load(std::memory_order_acquire)},
          {database->swept_us.load(std::memory_order_acquire)},
          {database->swept_ceiling_us.load(std::memory_order_acquire)},
          {database->watermark_us.load(std::memory_order_acquire)}};
}

core::Tick my_start_tick(const core::Layout& layout) noexcept {
  const core::UnixMicros floor{my_ceiling->floor_us.load(std::memory_order_acquire)};
  return std::max(last_tick_at(layout, floor),
                  start_tick_of(layout, slot_start_of(shared_database)));
}

void open_slot(Slot* slot, const core::Layout& layout, core::Tick last) {
  // A session that lifts slots holds this lock, too: it was earlier, and the floor is raised, or
  // comes later, and finds the slot open. (A transaction-local ceiling: see ceiling_hold().)
  LWLockAcquire(&shared_database->ceiling.lock, LW_EXCLUSIVE);
  last = std::max(last, my_start_tick(layout));
  if (is_at_end(slot, layout))
    open_tick(slot->last_tick, last);
  else
    raise_to(slot->last_tick, last);
  LWLockRelease(&shared_database->ceiling.lock);
}

void lift_slots(core::UnixMicros floor) {
  for_each_slot([floor](Slot* slot, const core::Layout& layout) {
    raise_to(slot->last_tick, last_tick_at(layout, floor));
  });
}

}  // namespace snowid::pg
