// The entries of segments and sections: finding, making and sweeping them; and the memory for keys.
// See shared.hpp for who locks what.
//
// Any entry that nobody uses may go, whatever its sequence: what is left of its block is lost, as
// by a restart of the server, and the next one to draw begins above what the sequence itself says.
#include "pg/compat.hpp"
#include "pg/quota.hpp"
#include "pg/settings.hpp"
#include "pg/subtransaction.hpp"

namespace snowid::pg {

namespace {

// What the entries of both tables begin with.
struct Entry {
  CounterKey key;
  std::atomic<uint32_t> users;
  Oid role;
};
static_assert(offsetof(SharedSegment, users) == offsetof(Entry, users) &&
              offsetof(SharedSegment, role) == offsetof(Entry, role));
static_assert(offsetof(SharedSection, users) == offsetof(Entry, users) &&
              offsetof(SharedSection, role) == offsetof(Entry, role));

// An entry that nobody used when it was looked at.
struct Idle {
  CounterKey key;
  Oid role;
};

List* find_idle(dshash_table* table, Bound bound) {
  List* found = NIL;
  dshash_seq_status scan;
  dshash_seq_init(&scan, table, false);
  while (const auto* entry = static_cast<Entry*>(dshash_seq_next(&scan))) {
    if (entry->users.load(std::memory_order_acquire) > 0 ||
        !IsWithin(bound, entry->key.database, entry->role))
      continue;
    auto* idle = static_cast<Idle*>(palloc(sizeof(Idle)));
    *idle = {entry->key, entry->role};
    found = lappend(found, idle);
  }
  dshash_seq_term(&scan);
  return found;
}

// Takes keys off the counts of a database, which may be none, and of the server.
void Uncount(uint32 keys, Database* database) {
  if (database != nullptr) database->key_count.fetch_sub(keys, std::memory_order_relaxed);
  root->key_count.fetch_sub(keys, std::memory_order_relaxed);
}

void free_table(dsa_pointer table, Database* database) {
  Uncount(shared_keys(table)->capacity, database);
  dsa_free(area, table);
}

// Takes its table from a section and frees it.
void free_keys(SharedSection* section, Database* database) {
  const dsa_pointer table = section->table;
  section->table = InvalidDsaPointer;
  if (DsaPointerIsValid(table)) free_table(table, database);
}

void remove_if_idle(dshash_table* table, const Idle& idle) {
  const Payers payers = quota_lock(idle.key.database, idle.role);
  auto* entry = static_cast<Entry*>(dshash_find(table, &idle.key, true));
  if (entry != nullptr) {
    if (entry->users.load(std::memory_order_acquire) == 0 && entry->role == idle.role) {
      if (table == sections) {
        auto* section = reinterpret_cast<SharedSection*>(entry);
        // Should the table be gone and not the entry, the keys count for nothing.
        section->known.file.store(0, std::memory_order_release);
        free_keys(section, payers.database);
      }
      dshash_delete_entry(table, entry);
      CountGone(kCounters, payers);
    } else {
      dshash_release_lock(table, entry);
    }
  }
  quota_unlock(payers);
}

// Whether the sequence seems to be dropped, here or with its database.
bool is_dropped(const CounterKey& key) {
  return key.database == MyDatabaseId
             ? !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key.relid))
             : !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(key.database));
}

enum class Which : uint8_t { kDropped, kAll };

// Removes the entries that count for the bound and that nobody uses, those of dropped sequences or
// all. No lock is held while the catalogs are read.
void remove_idle(dshash_table* table, Bound bound, Which which) {
  List* found = find_idle(table, bound);
  ListCell* cell;
  foreach (cell, found) {
    const auto& idle = *static_cast<Idle*>(lfirst(cell));
    if (which == Which::kAll || is_dropped(idle.key)) remove_if_idle(table, idle);
  }
  list_free_deep(found);
}

// Looks for dropped sections, since keys take much memory; but where there are so many counters
// that it takes long, only when there is a section's worth of keys more than when it was last done.
void remove_dropped_keys() {
  constexpr uint32 kFew = 1000;
  const uint64 since = root->swept_key_count.load(std::memory_order_relaxed);
  if (root->counts[kCounters].load(std::memory_order_relaxed) > kFew &&
      root->key_count.load(std::memory_order_relaxed) < since + static_cast<uint64>(section_keys))
    return;
  remove_idle(sections, Bound::kServer, Which::kDropped);
  root->swept_key_count.store(root->key_count.load(std::memory_order_relaxed),
                              std::memory_order_relaxed);
}

void sweep(Bound bound) {
  remove_idle(segments, bound, Which::kDropped);
  remove_idle(sections, bound, Which::kDropped);
  if (bound_of(kCounters) == Bound::kNone) return;
  remove_idle(segments, bound, Which::kAll);
  remove_idle(sections, bound, Which::kAll);
}

// Finds the entry of a sequence or makes it, of which all but the key and the role is zero. Returns
// it with its partition locked, and with this session counted in.
Entry* find_or_make(dshash_table* table, Oid relid, Size entry_size, bool* found) {
  const CounterKey key{MyDatabaseId, relid};
  auto* entry = static_cast<Entry*>(dshash_find(table, &key, false));
  *found = entry != nullptr;
  if (entry == nullptr) {
    quota_require_room(kCounters, sweep);
    if (table == sections) remove_dropped_keys();
    const Oid role = GetSessionUserId();
    const Payers payers = quota_lock(MyDatabaseId, role);
    entry = static_cast<Entry*>(dshash_find_or_insert(table, &key, found));
    if (!*found) {
      memset(reinterpret_cast<char*>(entry) + sizeof(key), 0, entry_size - sizeof(key));
      entry->role = role;
      CountMade(kCounters, payers);
    }
    quota_unlock(payers);
  }
  entry->users.fetch_add(1, std::memory_order_relaxed);
  return entry;
}

// A table of keys to be made.
struct Allocation {
  uint32 capacity;
  dsa_pointer made;
};

void allocate(void* argument) {
  auto* wanted = static_cast<Allocation*>(argument);
  wanted->made = shared_allocate_keys(wanted->capacity);
}

}  // namespace

SharedSegment* shared_segment(Oid relid) {
  bool found;
  auto* segment = reinterpret_cast<SharedSegment*>(
      find_or_make(segments, relid, sizeof(SharedSegment), &found));
  if (!found) InitBuyingRight(&segment->buying);
  dshash_release_lock(segments, segment);
  return segment;
}

SharedSection* shared_section(Oid relid) {
  bool found;
  auto* section = reinterpret_cast<SharedSection*>(
      find_or_make(sections, relid, sizeof(SharedSection), &found));
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

bool SharedHasRoomForKeys(uint32 capacity) {
  const uint64 limit = std::max(section_keys, kDefaultSectionKeys);
  const uint64 mine = shared_database->key_count.load(std::memory_order_relaxed) + capacity;
  const uint64 all = root->key_count.load(std::memory_order_relaxed) + capacity;
  // A section's worth is each database's own, whatever others have.
  return mine <= limit || (mine <= 50 * limit && all <= 200 * limit);
}

dsa_pointer shared_allocate_keys(uint32 capacity) {
  const dsa_pointer made =
      dsa_allocate_extended(area, core::KeyTableBytes(capacity), DSA_ALLOC_HUGE);
  core::MakeKeyTable(dsa_get_address(area, made), capacity);
  shared_database->key_count.fetch_add(capacity, std::memory_order_relaxed);
  root->key_count.fetch_add(capacity, std::memory_order_relaxed);
  return made;
}

dsa_pointer shared_try_to_allocate_keys(uint32 capacity) {
  Allocation wanted{capacity, InvalidDsaPointer};
  ErrorData* error = try_in_subtransaction(allocate, &wanted);
  if (error == nullptr) return wanted.made;
  // It is the kernel that refuses, where /dev/shm is full, which no flag of dsa's covers.
  if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES) ReThrowError(error);
  FreeErrorData(error);
  return InvalidDsaPointer;
}

void shared_free_table(dsa_pointer table) { free_table(table, shared_database); }

void shared_free_keys(SharedSection* section) { free_keys(section, shared_database); }

}  // namespace snowid::pg
