// The root, the area and its tables. See shared.hpp for who locks what.
#include "pg/shared.hpp"

#include "pg/random.hpp"
#include "pg/settings.hpp"

// What a root made by this source is compatible with. To be changed with Root, Database, Slot or
// what their fields mean: sessions of two libraries then refuse to share it.
#ifndef SNOWID_ABI
#define SNOWID_ABI 3
#endif

// 80 bytes each. A bound, since callers choose shards and layouts, and one of them must not use up
// the memory of all; nor may one database, which gets a quarter at most.
#ifndef SNOWID_MAX_SLOTS
#define SNOWID_MAX_SLOTS 1000000
#endif

// As many segments and sections, at 200 bytes each and what the keys of a section take.
#ifndef SNOWID_MAX_COUNTERS
#define SNOWID_MAX_COUNTERS 100000
#endif

namespace snowid::pg {

namespace {

constexpr char kRootName[] = "snowid";

// Never to be changed, or a new library could not even look at the root of an old one.
constexpr Size kRootSize = 2048;

// How many layouts can be about to end, and the log be told of each.
constexpr uint32 kWarnings = 64;

// A layout that is about to end. Nothing is ever removed.
struct Warning {
  std::atomic<uint64_t> layout;  // a hash of it; 0 where nobody has used this yet
  std::atomic<int64_t> warned_us;
};

struct Root {
  uint32 abi;  // must stay the first field
  int tranche;
  LWLock lock;
  dsa_handle area;
  dshash_table_handle databases;
  dshash_table_handle slots;
  dshash_table_handle segments;
  dshash_table_handle sections;
  std::atomic<uint32_t> slot_count;
  std::atomic<uint32_t> counter_count;
  std::atomic<uint64_t> key_count;
  std::atomic<uint64_t> swept_key_count;  // as many when dropped sections were last looked for
  std::atomic<uint64_t> random;           // 0 until somebody asks for it
  Warning warnings[kWarnings];
};
static_assert(sizeof(Root) <= kRootSize);

// This session's way to the shared state; all set or none.
Root* root = nullptr;
dsa_area* area = nullptr;
dshash_table* databases = nullptr;
dshash_table* slots = nullptr;
dshash_table* segments = nullptr;
dshash_table* sections = nullptr;
Database* shared_database = nullptr;

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
  database->slot_count.store(0);
  database->counter_count.store(0);
  database->key_count.store(0);
}

Database* find_database(int tranche) {
  bool found;
  auto* database = static_cast<Database*>(dshash_find_or_insert(databases, &MyDatabaseId, &found));
  if (!found) initialize(database, tranche);
  dshash_release_lock(databases, database);
  return database;
}

}  // namespace

Database* my_database = nullptr;

void shared_attach() {
  if (shared_database != nullptr) return;
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

namespace {

void require_room_for_slot() {
  if (root->slot_count.load(std::memory_order_relaxed) < SNOWID_MAX_SLOTS &&
      shared_database->slot_count.load(std::memory_order_relaxed) < SNOWID_MAX_SLOTS / 4)
    return;
  ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("too many shards are in use"),
                  errdetail("A server can hold the state of %d shards, and of %d of one database.",
                            SNOWID_MAX_SLOTS, SNOWID_MAX_SLOTS / 4),
                  errhint("A restart of the server forgets the shards that are not used.")));
}

}  // namespace

Slot* shared_slot(const core::Layout& layout, int32 shard) {
  const SlotKey key{MyDatabaseId, static_cast<uint32>(shard), layout.spec};
  auto* slot = static_cast<Slot*>(dshash_find(slots, &key, false));
  if (slot == nullptr) {
    require_room_for_slot();
    bool found;
    slot = static_cast<Slot*>(dshash_find_or_insert(slots, &key, &found));
    if (!found) {
      const core::UnixMicros floor{my_database->floor_us.load(std::memory_order_acquire)};
      slot->last_tick.store(LastTickAt(layout, floor).value, std::memory_order_relaxed);
      root->slot_count.fetch_add(1, std::memory_order_relaxed);
      shared_database->slot_count.fetch_add(1, std::memory_order_relaxed);
    }
  }
  dshash_release_lock(slots, slot);
  return slot;
}

Slot* shared_common_slot(const core::Layout& layout, core::Tick floor) {
  const SlotKey key{InvalidOid, 0, layout.spec};
  bool found;
  auto* slot = static_cast<Slot*>(dshash_find_or_insert(slots, &key, &found));
  if (!found) slot->last_tick.store(floor.value, std::memory_order_relaxed);
  dshash_release_lock(slots, slot);
  return slot;
}

namespace {

bool HasRoomForCounter() {
  return root->counter_count.load(std::memory_order_relaxed) < SNOWID_MAX_COUNTERS &&
         shared_database->counter_count.load(std::memory_order_relaxed) < SNOWID_MAX_COUNTERS / 4;
}

// The keys of all entries of a table.
List* keys_of(dshash_table* table) {
  List* keys = NIL;
  dshash_seq_status scan;
  dshash_seq_init(&scan, table, false);
  while (const auto* key = static_cast<CounterKey*>(dshash_seq_next(&scan))) {
    auto* copy = static_cast<CounterKey*>(palloc(sizeof(CounterKey)));
    *copy = *key;
    keys = lappend(keys, copy);
  }
  dshash_seq_term(&scan);
  return keys;
}

void remove_counter(dshash_table* table, const CounterKey& key) {
  void* entry = dshash_find(table, &key, true);
  if (entry == nullptr) return;
  if (table == sections) shared_free_keys(static_cast<SharedSection*>(entry));
  dshash_delete_entry(table, entry);
  root->counter_count.fetch_sub(1, std::memory_order_relaxed);
  if (key.database == MyDatabaseId)
    shared_database->counter_count.fetch_sub(1, std::memory_order_relaxed);
}

bool is_sequence_here(Oid relid) { return SearchSysCacheExists1(RELOID, ObjectIdGetDatum(relid)); }

// Removes the entries of sequences that were dropped, in this database or with theirs. Nobody uses
// them: who does holds the lock of the sequence, and so does who has made one that others do not
// see yet. No lock is held while the catalogs are read.
void remove_dropped(dshash_table* table) {
  List* keys = keys_of(table);
  ListCell* cell;
  foreach (cell, keys) {
    const auto& key = *static_cast<CounterKey*>(lfirst(cell));
    if (key.database != MyDatabaseId) {
      if (!SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(key.database)))
        remove_counter(table, key);
    } else if (!is_sequence_here(key.relid) &&
               ConditionalLockRelationOid(key.relid, ShareRowExclusiveLock)) {
      if (!is_sequence_here(key.relid)) remove_counter(table, key);
      UnlockRelationOid(key.relid, ShareRowExclusiveLock);
    }
  }
  list_free_deep(keys);
}

// Looks for dropped sections, since keys take much memory; but where there are so many counters
// that it takes long, only when there is a section's worth of keys more than when it was last done.
void remove_dropped_keys() {
  constexpr uint32 kFew = 1000;
  const uint64 since = root->swept_key_count.load(std::memory_order_relaxed);
  if (root->counter_count.load(std::memory_order_relaxed) > kFew &&
      root->key_count.load(std::memory_order_relaxed) < since + static_cast<uint64>(section_keys))
    return;
  remove_dropped(sections);
  root->swept_key_count.store(root->key_count.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
}

void require_room_for_counter() {
  if (HasRoomForCounter()) return;
  remove_dropped(segments);
  remove_dropped(sections);
  if (HasRoomForCounter()) return;
  ereport(ERROR,
          (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("too many segments and sections are in use"),
           errdetail("A server can hold the state of %d, and of %d of one database.",
                     SNOWID_MAX_COUNTERS, SNOWID_MAX_COUNTERS / 4),
           errhint("A restart of the server forgets those that are not used.")));
}

// Finds the entry of a sequence, or makes it, of which all but the key is zero. Returns it with its
// partition locked.
void* find_counter(dshash_table* table, Oid relid, Size entry_size, bool* found) {
  const CounterKey key{MyDatabaseId, relid};
  void* entry = dshash_find(table, &key, false);
  *found = entry != nullptr;
  if (*found) return entry;
  require_room_for_counter();
  if (table == sections) remove_dropped_keys();
  entry = dshash_find_or_insert(table, &key, found);
  if (*found) return entry;
  memset(static_cast<char*>(entry) + sizeof(key), 0, entry_size - sizeof(key));
  root->counter_count.fetch_add(1, std::memory_order_relaxed);
  shared_database->counter_count.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

}  // namespace

SharedSegment* shared_segment(Oid relid) {
  bool found;
  auto* segment =
      static_cast<SharedSegment*>(find_counter(segments, relid, sizeof(SharedSegment), &found));
  if (!found) InitBuyingRight(&segment->buying);
  dshash_release_lock(segments, segment);
  return segment;
}

SharedSection* shared_section(Oid relid) {
  bool found;
  auto* section =
      static_cast<SharedSection*>(find_counter(sections, relid, sizeof(SharedSection), &found));
  if (!found) {
    InitBuyingRight(&section->buying);
    LWLockInitialize(&section->lock, root->tranche);
    section->table = InvalidDsaPointer;
  }
  dshash_release_lock(sections, section);
  return section;
}

core::KeyTable* shared_keys(dsa_pointer table) {
  if (!DsaPointerIsValid(table)) return nullptr;
  return static_cast<core::KeyTable*>(dsa_get_address(area, table));
}

dsa_pointer shared_allocate_keys(uint32 capacity, bool must) {
  const uint64 limit = std::max(section_keys, kDefaultSectionKeys);
  const uint64 mine = shared_database->key_count.load(std::memory_order_relaxed) + capacity;
  const uint64 all = root->key_count.load(std::memory_order_relaxed) + capacity;
  if (!must && (mine > 50 * limit || all > 200 * limit)) return InvalidDsaPointer;
  const dsa_pointer made =
      dsa_allocate_extended(area, core::KeyTableBytes(capacity), DSA_ALLOC_HUGE | DSA_ALLOC_NO_OOM);
  if (!DsaPointerIsValid(made)) return made;
  core::MakeKeyTable(dsa_get_address(area, made), capacity);
  shared_database->key_count.fetch_add(capacity, std::memory_order_relaxed);
  root->key_count.fetch_add(capacity, std::memory_order_relaxed);
  return made;
}

void shared_free_keys(SharedSection* section) {
  const core::KeyTable* table = shared_keys(section->table);
  if (table == nullptr) return;
  if (section->key.database == MyDatabaseId)
    shared_database->key_count.fetch_sub(table->capacity, std::memory_order_relaxed);
  root->key_count.fetch_sub(table->capacity, std::memory_order_relaxed);
  dsa_free(area, section->table);
  section->table = InvalidDsaPointer;
}

void shared_lift(core::UnixMicros floor) {
  // Stored before the scan: a slot that the scan does not meet is made after it, and sees the
  // floor.
  my_database->floor_us.store(floor.value, std::memory_order_release);
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots, false);
  core::Layout layout = core::kInstagram;
  while (auto* slot = static_cast<Slot*>(dshash_seq_next(&scan))) {
    if (slot->key.database != MyDatabaseId) continue;
    if (!(slot->key.layout == layout.spec)) layout = core::MakeLayout(slot->key.layout);
    RaiseTo(slot->last_tick, LastTickAt(layout, floor));
  }
  dshash_seq_term(&scan);
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
