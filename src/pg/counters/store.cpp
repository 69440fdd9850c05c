// Finding, making and sweeping the entries of segments and sections. See store.hpp for the locks.
//
// Any entry that nobody uses may be removed. What is left of its block is lost, as by a restart of
// the server: the next one to draw begins above what the sequence itself says.
#include "pg/counters/store.hpp"

#include "pg/counters/keys.hpp"
#include "pg/counters/settings.hpp"
#include "pg/shmem/bounds.hpp"

namespace snowid::pg {

namespace {

// The first fields of the entries of both tables.
struct Entry {
  CounterKey key;
  std::atomic<uint32_t> users;
};
static_assert(offsetof(SharedSegment, users) == offsetof(Entry, users));
static_assert(offsetof(SharedSection, users) == offsetof(Entry, users));

void begin_segment(void* entry) { init_refill_right(&static_cast<SharedSegment*>(entry)->refill); }

void begin_section(void* entry) {
  auto* section = static_cast<SharedSection*>(entry);
  init_refill_right(&section->refill);
  LWLockInitialize(&section->lock, tranche_of(Tranche::kSection));
  for (DrawLock& draws : section->draw_locks)
    LWLockInitialize(&draws.lock, tranche_of(Tranche::kSection));
  section->table = InvalidDsaPointer;
}

SharedTable segments = {
    {"segments", SNOWID_COUNTERS_ABI, sizeof(CounterKey), sizeof(SharedSegment), begin_segment},
    nullptr};
SharedTable sections = {
    {"sections", SNOWID_COUNTERS_ABI, sizeof(CounterKey), sizeof(SharedSection), begin_section},
    nullptr};

Bounds bounds_of_counters() {
  return {static_cast<uint64>(max_counters), static_cast<uint64>(max_counters_of_database)};
}
Quota quota = make_quota("segments and sections", bounds_of_counters, "usage of counters");

// What an entry was when it was looked at. Whether anybody uses it is asked when it is to go.
struct Candidate {
  CounterKey key;
  // Of a section: how many keys memory knew, and when its limit was last raised.
  uint64 keys;
  int64 raised_us;
};

List* find_candidates(const SharedTable& table, Bound bound) {
  List* found = NIL;
  dshash_seq_status scan;
  dshash_seq_init(&scan, table.attached, false);
  while (const auto* entry = static_cast<Entry*>(dshash_seq_next(&scan))) {
    if (!is_within(bound, entry->key.database)) continue;
    auto* candidate = static_cast<Candidate*>(palloc(sizeof(Candidate)));
    *candidate = {entry->key, 0, 0};
    if (&table == &sections) {
      const auto* section = reinterpret_cast<const SharedSection*>(entry);
      candidate->keys = section->keys.load(std::memory_order_relaxed);
      candidate->raised_us = section->raised_us;
    }
    found = lappend(found, candidate);
  }
  dshash_seq_term(&scan);
  return found;
}

void remove_if_idle(const SharedTable& table, const Candidate& candidate) {
  Usage* usage = usage_lock(quota, candidate.key.database);
  auto* entry = static_cast<Entry*>(table_find(table, &candidate.key, true));
  if (entry != nullptr) {
    if (entry->users.load(std::memory_order_acquire) == 0) {
      if (&table == &sections) {
        auto* section = reinterpret_cast<SharedSection*>(entry);
        // First, so that no numbers are drawn from the entry if an error comes between freeing its
        // keys and deleting it.
        section->known.file.store(0, std::memory_order_release);
        keys_free_all(section, candidate.key.database);
      }
      table_delete(table, entry);
      count_gone(quota, usage);
    } else {
      table_release(table, entry);
    }
  }
  usage_unlock(quota, usage);
}

// Whether the sequence seems to be dropped: it, if it is of this database, or its database. No
// LWLock may be held, for it reads catalogs.
bool is_dropped(const CounterKey& key) {
  assert_holds_none();
  return key.database == MyDatabaseId
             ? !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key.relid))
             : !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(key.database));
}

enum class Which : uint8_t { kDropped, kAll };

// Removes entries that nobody uses and that count for the bound: those of dropped sequences, or
// all.
void remove_idle(const SharedTable& table, Bound bound, Which which) {
  List* found = find_candidates(table, bound);
  ListCell* cell;
  foreach (cell, found) {
    const auto& candidate = *static_cast<Candidate*>(lfirst(cell));
    if (which == Which::kAll || is_dropped(candidate.key)) remove_if_idle(table, candidate);
  }
  list_free_deep(found);
}

// Removes the entries of dropped sections, since keys take much memory. Where there are so many
// counters that it takes long, it does so only if the server's keys have grown by
// snowid.section_keys since it was last done.
void remove_dropped_keys() {
  constexpr uint32 kFew = 1000;
  if (count_of_server(quota) > kFew && !has_grown(key_quota, static_cast<uint64>(section_keys)))
    return;
  remove_idle(sections, Bound::kServer, Which::kDropped);
  note_swept(key_quota);
}

int by_time_of_raise(const ListCell* a, const ListCell* b) {
  const auto* one = static_cast<Candidate*>(lfirst(a));
  const auto* other = static_cast<Candidate*>(lfirst(b));
  return one->raised_us < other->raised_us ? -1 : one->raised_us > other->raised_us ? 1 : 0;
}

// See sections_make_room().
void sweep_keys(Bound bound) {
  const uint64 wanted = 2 * static_cast<uint64>(section_keys);
  remove_idle(sections, bound, Which::kDropped);
  List* found = find_candidates(sections, bound);
  list_sort(found, by_time_of_raise);
  ListCell* cell;
  foreach (cell, found) {
    const auto& candidate = *static_cast<Candidate*>(lfirst(cell));
    if (bound_of(key_quota, wanted) == Bound::kNone) break;
    if (candidate.keys > kFirstKeys) remove_if_idle(sections, candidate);
  }
  list_free_deep(found);
}

void sweep_counters(Bound bound) {
  remove_idle(segments, bound, Which::kDropped);
  remove_idle(sections, bound, Which::kDropped);
  if (bound_of(quota) == Bound::kNone) return;
  remove_idle(segments, bound, Which::kAll);
  remove_idle(sections, bound, Which::kAll);
}

// Finds the entry of a sequence or makes it, and counts this session in.
Entry* find_or_make(SharedTable* table, Oid relid) {
  const CounterKey key{MyDatabaseId, relid};
  // All tables, since a sweep needs them.
  table_attach(&segments);
  table_attach(&sections);
  quota_attach(&key_quota);
  auto* entry = static_cast<Entry*>(table_find(*table, &key, false));
  if (entry == nullptr) {
    quota_require_room(&quota, sweep_counters);
    if (table == &sections) remove_dropped_keys();
    Usage* usage = usage_lock(quota, MyDatabaseId);
    bool made;
    entry = static_cast<Entry*>(table_find_or_make(*table, &key, &made));
    if (made) count_made(quota, usage);
    usage_unlock(quota, usage);
  }
  // With the partition locked, before which a sweep may remove the entry.
  assert_holds_some();
  entry->users.fetch_add(1, std::memory_order_relaxed);
  table_release(*table, entry);
  return entry;
}

// Calls `look` for each entry of this database.
template <typename Shared>
void visit_entries(SharedTable* table, void (*look)(Shared*, void*), void* argument) {
  table_attach(table);
  dshash_seq_status scan;
  dshash_seq_init(&scan, table->attached, false);
  while (auto* entry = static_cast<Shared*>(dshash_seq_next(&scan)))
    if (entry->key.database == MyDatabaseId) look(entry, argument);
  dshash_seq_term(&scan);
}

}  // namespace

bool sections_make_room(uint32 capacity) {
  assert_holds_none();
  const Bound bound = bound_of(key_quota, capacity);
  if (likely(bound == Bound::kNone)) return true;
  if (!begin_sweep(key_quota, bound)) return false;
  // A session that has made no entry yet may not be.
  quota_attach(&quota);
  sweep_keys(bound);
  return bound_of(key_quota, capacity) == Bound::kNone;
}

void segments_each(void (*look)(SharedSegment* segment, void* argument), void* argument) {
  visit_entries(&segments, look, argument);
}

void sections_each(void (*look)(SharedSection* section, void* argument), void* argument) {
  visit_entries(&sections, look, argument);
}

SharedSegment* shared_segment(Oid relid) {
  return reinterpret_cast<SharedSegment*>(find_or_make(&segments, relid));
}

SharedSection* shared_section(Oid relid) {
  return reinterpret_cast<SharedSection*>(find_or_make(&sections, relid));
}

}  // namespace snowid::pg
