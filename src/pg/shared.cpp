// Attaching to the root, the area and its tables; the databases; and what else the root holds. See
// shared.hpp for who locks what.
#include "pg/shared.hpp"

#include "pg/abi.hpp"
#include "pg/area.hpp"
#include "pg/random.hpp"

namespace snowid::pg {

// All set or none.
Root* root = nullptr;
dsa_area* area = nullptr;
dshash_table* databases = nullptr;
dshash_table* accounts = nullptr;
dshash_table* slots = nullptr;
dshash_table* segments = nullptr;
dshash_table* sections = nullptr;
Database* shared_database = nullptr;
Database* my_database = nullptr;

namespace {

constexpr char kRootName[] = "snowid";

// Never to be changed, or a new library could not even look at the root of an old one.
constexpr Size kRootSize = 2048;
static_assert(sizeof(Root) <= kRootSize);

Database stand_in;

Root* find_root() {
  bool found;
  LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
  auto* made = static_cast<Root*>(ShmemInitStruct(kRootName, kRootSize, &found));
  if (!found) {
    memset(static_cast<void*>(made), 0, kRootSize);
    made->abi = SNOWID_ABI;
    made->tranche = LWLockNewTrancheId();
    made->area = DSM_HANDLE_INVALID;
    LWLockInitialize(&made->lock, made->tranche);
  }
  LWLockRelease(AddinShmemInitLock);

  if (made->abi != SNOWID_ABI)
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("library \"snowid\" was replaced while the server was running"),
             errdetail("Shared memory has the form of ABI %u, and this library that of ABI %u.",
                       made->abi, static_cast<uint32>(SNOWID_ABI)),
             errhint("Restart the server.")));
  LWLockRegisterTranche(made->tranche, kRootName);
  return made;
}

// The tables: where a session keeps one, where the root does, and what its entries are.
struct Table {
  dshash_table** mine;
  dshash_table_handle Root::*handle;
  Size key_size;
  Size entry_size;
};
constexpr Table kTables[] = {
    {&databases, &Root::databases, sizeof(Oid), sizeof(Database)},
    {&accounts, &Root::accounts, sizeof(AccountKey), sizeof(Account)},
    {&slots, &Root::slots, sizeof(SlotKey), sizeof(Slot)},
    {&segments, &Root::segments, sizeof(CounterKey), sizeof(SharedSegment)},
    {&sections, &Root::sections, sizeof(CounterKey), sizeof(SharedSection)},
};

// Makes the area and its tables. The handle of the area is stored last: after an error there is
// nothing to undo, since the area, not yet pinned, goes with the resource owner.
void make_area(Root* in) {
  area = dsa_create(in->tranche);
  for (const Table& table : kTables) {
    const dshash_parameters parameters = byte_keyed(table.key_size, table.entry_size, in->tranche);
    *table.mine = dshash_create(area, &parameters, nullptr);
    in->*table.handle = dshash_get_hash_table_handle(*table.mine);
  }
  dsa_pin(area);
  dsa_pin_mapping(area);
  in->area = dsa_get_handle(area);
}

void attach_area(Root* in) {
  area = dsa_attach(in->area);
  for (const Table& table : kTables) {
    const dshash_parameters parameters = byte_keyed(table.key_size, table.entry_size, in->tranche);
    *table.mine = dshash_attach(area, &parameters, in->*table.handle, nullptr);
  }
  dsa_pin_mapping(area);
}

void initialize(Database* database, int tranche) {
  LWLockInitialize(&database->lock, tranche);
  database->relation = InvalidOid;
  database->file = 0;
  database->written_us = 0;
  database->written_lsn = InvalidXLogRecPtr;
  database->ceiling_us.store(0);
  database->alert_us.store(0);
  database->floor_us.store(0);
  database->swept_us.store(0);
  database->swept_ceiling_us.store(0);
  for (std::atomic<uint32_t>& count : database->counts) count.store(0);
  database->key_count.store(0);
}

Database* find_database(int tranche) {
  bool found;
  auto* database = static_cast<Database*>(dshash_find_or_insert(databases, &MyDatabaseId, &found));
  if (!found) {
    initialize(database, tranche);
    database->users.store(0);
  }
  database->users.fetch_add(1);
  dshash_release_lock(databases, database);
  return database;
}

// A callback at the process's exit. The pointer stays for callbacks that come after this one, at
// the end of a transaction that is open yet: a database to which a process is connected is not
// dropped.
void leave(int, Datum) {
  Database* left = shared_database;
  LetGo(left);
}

}  // namespace

void shared_attach() {
  static bool is_registered = false;
  if (shared_database != nullptr) return;
  if (!is_registered) {
    before_shmem_exit(leave, 0);
    is_registered = true;
  }
  // What the session keeps of the area must outlive the transaction.
  MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
  if (root == nullptr) {
    Root* found = find_root();
    LWLockAcquire(&found->lock, LW_EXCLUSIVE);
    if (found->area == DSM_HANDLE_INVALID)
      make_area(found);
    else
      attach_area(found);
    LWLockRelease(&found->lock);
    root = found;
  }
  shared_database = find_database(root->tranche);
  my_database = shared_database;
  MemoryContextSwitchTo(caller);
}

bool SharedHasStandIn() { return my_database == &stand_in; }

void shared_stand_in(bool wanted) {
  if (wanted && !SharedHasStandIn()) {
    initialize(&stand_in, root->tranche);
    stand_in.written_us = shared_database->ceiling_us.load();
    stand_in.ceiling_us.store(shared_database->ceiling_us.load());
    stand_in.alert_us.store(shared_database->alert_us.load());
    stand_in.floor_us.store(shared_database->floor_us.load());
  }
  my_database = wanted ? &stand_in : shared_database;
}

uint64 shared_random() {
  constexpr uint64 kBits = uint64{1} << 40;
  uint64_t random = root->random.load(std::memory_order_relaxed);
  if (random == 0) {
    uint64 fresh;
    fetch_random(&fresh, sizeof(fresh));
    // A bit above the others, since they may all be 0.
    fresh = fresh % kBits | kBits;
    if (root->random.compare_exchange_strong(random, fresh, std::memory_order_relaxed))
      random = fresh;
  }
  return random % kBits;
}

std::atomic<int64_t>* shared_warned_us(const core::LayoutSpec& layout) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&layout);
  const uint64_t hash = hash_bytes_extended(bytes, sizeof(layout), 0) | 1;
  const uint64_t home = (hash >> 32) % kWarnings;
  for (uint64_t at = home; at < home + kWarnings; at++) {
    Warning& warning = root->warnings[at % kWarnings];
    uint64_t owner = 0;
    if (warning.layout.compare_exchange_strong(owner, hash, std::memory_order_relaxed) ||
        owner == hash)
      return &warning.warned_us;
  }
  return &root->warnings[home].warned_us;
}

}  // namespace snowid::pg
