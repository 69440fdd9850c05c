// Entries of segments and sections, and the right to refill.
//
// An unused entry may be removed, and with it the rest of its block, as by a restart.
#include "pg/counters/counter_state.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "access/xact.h"
#include "common/pg_prng.h"
}

namespace snowid::pg {

bool segment_adapt = true;
int section_keys = kDefaultSectionKeys;

// Reaching it raises no error: keys are evicted early.
Quota key_quota = make_quota(
    [] {
      const uint64 limit = std::max(section_keys, least_section_keys);
      return Bounds{200 * limit, 50 * limit};
    },
    "usage of keys");

namespace {

// The right held by this process, or nullptr, and the nesting level of the subtransaction in which
// it was acquired. A failure in one of the refill's own subtransactions must not release it.
RefillRight* own_right = nullptr;
int right_level = 0;

struct Entry {
  CounterKey key;
  std::atomic<uint32_t> users;
};
static_assert(offsetof(SharedSegment, users) == offsetof(Entry, users));
static_assert(offsetof(SharedSection, users) == offsetof(Entry, users));

void begin_segment(void* entry) {
  ConditionVariableInit(&static_cast<SharedSegment*>(entry)->refill.released);
}

void begin_section(void* entry) {
  auto* section = static_cast<SharedSection*>(entry);
  ConditionVariableInit(&section->refill.released);
  LWLockInitialize(&section->lock, tranche_of(Tranche::kSection));
  section->uses.store(core::kFirstUses);
  section->seed = pg_prng_uint64(&pg_global_prng_state);
  for (KeyPartition& partition : section->partitions) {
    LWLockInitialize(&partition.lock, tranche_of(Tranche::kSection));
    partition.slots = InvalidDsaPointer;
  }
}

}  // namespace

SharedTable segments = {"segments", SNOWID_COUNTERS_ABI, sizeof(CounterKey), sizeof(SharedSegment),
                        begin_segment};
SharedTable sections = {"sections", SNOWID_COUNTERS_ABI, sizeof(CounterKey), sizeof(SharedSection),
                        begin_section};

namespace {

Quota quota = make_quota(
    [] {
      return Bounds{static_cast<uint64>(max_counters),
                    static_cast<uint64>(max_counters_of_database)};
    },
    "usage of counters");

// A snapshot of an entry. Its users are checked when it is removed.
struct Candidate {
  const SharedTable* table;
  CounterKey key;
  uint32 room;
  int64 raised_us;
};

List* find_candidates(const SharedTable& table, Bound bound, List* found) {
  dshash_seq_status scan;
  dshash_seq_init(&scan, table.attached, false);
  while (const auto* entry = static_cast<Entry*>(dshash_seq_next(&scan))) {
    if (!is_within(bound, entry->key.database)) continue;
    auto* candidate = static_cast<Candidate*>(palloc(sizeof(Candidate)));
    *candidate = {&table, entry->key, 0, 0};
    if (&table == &sections) {
      const auto* section = reinterpret_cast<const SharedSection*>(entry);
      candidate->room = section->room.load(std::memory_order_relaxed);
      candidate->raised_us = section->raised_us.load(std::memory_order_relaxed);
    }
    found = lappend(found, candidate);
  }
  dshash_seq_term(&scan);
  return found;
}

void remove_if_idle(const Candidate& candidate) {
  const SharedTable& table = *candidate.table;
  dsa_pointer slots[kKeyPartitions];
  int count = 0;
  uint32 capacity = 0;
  Usage* usage = usage_lock(quota, candidate.key.database);
  auto* entry = static_cast<Entry*>(dshash_find(table.attached, &candidate.key, true));
  if (entry != nullptr && entry->users.load(std::memory_order_acquire) == 0) {
    if (&table == &sections) {
      const auto* section = reinterpret_cast<const SharedSection*>(entry);
      for (const KeyPartition& partition : section->partitions) {
        if (!DsaPointerIsValid(partition.slots)) continue;
        // Mapped first, because an error here leaves all as it is.
        (void)dsa_get_address(shared_area, partition.slots);
        slots[count++] = partition.slots;
        capacity += partition.capacity.load(std::memory_order_relaxed);
      }
      Usage* usage_of_keys = usage_lock(key_quota, candidate.key.database);
      count_gone(key_quota, usage_of_keys, section->room.load());
      key_quota.server->key_slots.fetch_sub(capacity, std::memory_order_relaxed);
      usage_unlock(key_quota, usage_of_keys);
    }
    table_delete(table, entry);
    count_gone(quota, usage);
  } else if (entry != nullptr) {
    dshash_release_lock(table.attached, entry);
  }
  usage_unlock(quota, usage);
  while (count > 0) dsa_free(shared_area, slots[--count]);
}

// Whether sequence or database seem to be dropped. Requires: no LWLock held (it reads catalogs).
bool is_dropped(const CounterKey& key) {
  assert_holds_none();
  return key.database == MyDatabaseId
             ? !SearchSysCacheExists1(RELOID, ObjectIdGetDatum(key.relid))
             : !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(key.database));
}

int by_time_of_raise(const ListCell* a, const ListCell* b) {
  const auto* one = static_cast<Candidate*>(lfirst(a));
  const auto* other = static_cast<Candidate*>(lfirst(b));
  return one->raised_us < other->raised_us ? -1 : one->raised_us > other->raised_us ? 1 : 0;
}

// Removes unused entries that count toward the bound: those of dropped sequences, then those with
// room for more than `room` keys until `wanted` more fit the full quota, first those raised longest
// ago.
void sweep(Bound bound, const Quota& full, uint64 wanted, int64 room) {
  List* found = find_candidates(segments, bound, find_candidates(sections, bound, NIL));
  ListCell* cell;
  foreach (cell, found) {
    const auto& candidate = *static_cast<Candidate*>(lfirst(cell));
    if (is_dropped(candidate.key)) remove_if_idle(candidate);
  }
  list_sort(found, by_time_of_raise);
  foreach (cell, found) {
    const auto& candidate = *static_cast<Candidate*>(lfirst(cell));
    if (bound_of(full, wanted) == Bound::kNone) break;
    if (candidate.room > room) remove_if_idle(candidate);
  }
  list_free_deep(found);
}

// All, if those of dropped sequences are too few: few sweeps are allowed.
void sweep_counters(Bound bound) {
  constexpr int64 kNone = PG_INT64_MAX;
  sweep(bound, quota, 0, kNone);
  if (bound_of(quota) != Bound::kNone) sweep(bound, quota, PG_UINT32_MAX, -1);
}

// Removes the entries of dropped sections, whose keys take much memory. This takes long with many
// counters: then only if keys have grown by snowid.section_keys.
void remove_dropped_keys() {
  constexpr uint32 kFew = 1000;
  if (count_of_server(quota) > kFew && !has_grown(key_quota, static_cast<uint64>(section_keys)))
    return;
  sweep(Bound::kServer, key_quota, 0, PG_INT64_MAX);
  note_swept(key_quota);
}

}  // namespace

void* shared_counter(SharedTable* table, Oid relid) {
  const CounterKey key{MyDatabaseId, relid};
  table_attach(&segments);
  table_attach(&sections);
  quota_attach(&key_quota);
  auto* entry = static_cast<Entry*>(dshash_find(table->attached, &key, false));
  if (entry == nullptr) {
    const Bound bound = quota_make_room(&quota, sweep_counters);
    if (bound != Bound::kNone)
      ereport(ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
              errmsg("too many segments and sections are in use"), errdetail_full(quota, bound));
    if (table == &sections) remove_dropped_keys();
    Usage* usage = usage_lock(quota, MyDatabaseId);
    bool made;
    entry = static_cast<Entry*>(table_find_or_make(*table, &key, &made));
    if (made) count_made(quota, usage);
    usage_unlock(quota, usage);
  }
  // Before the partition is unlocked, because a sweep may remove the entry then.
  assert_holds_some();
  entry->users.fetch_add(1, std::memory_order_relaxed);
  dshash_release_lock(table->attached, entry);
  return entry;
}

bool sections_make_room(uint32 more) {
  assert_holds_none();
  const Bound bound = bound_of(key_quota, more);
  if (likely(bound == Bound::kNone)) return true;
  if (!begin_sweep(key_quota, bound)) return false;
  // A session without an entry may not have attached it yet.
  quota_attach(&quota);
  sweep(bound, key_quota, static_cast<uint64>(section_keys), kFirstKeys);
  return bound_of(key_quota, more) == Bound::kNone;
}

bool refill_begin(RefillRight* right) {
  if (own_right != nullptr) elog(ERROR, "refill within a refill");
  int32_t holder = 0;
  if (!right->holder.compare_exchange_strong(holder, MyProcPid)) return false;
  own_right = right;
  right_level = GetCurrentTransactionNestLevel();
  return true;
}

void refill_wait(RefillRight* right) {
  Assert(own_right == nullptr);
  assert_holds_none();
  ConditionVariablePrepareToSleep(&right->released);
  if (is_being_refilled(*right))
    ConditionVariableSleep(&right->released, wait_event("SnowidRefill"));
  ConditionVariableCancelSleep();
}

void end_refill(int level) noexcept {
  if (own_right == nullptr || right_level < level) return;
  Assert(is_mine(*own_right));
  own_right->holder.store(0);
  ConditionVariableBroadcast(&own_right->released);
  own_right = nullptr;
}

void counter_settings_register() {
  DefineCustomBoolVariable(
      "snowid.segment_adapt", "Adapts the size of refills to the rate of use.",
      "A segment allocates twice as many blocks if the last ones were exhausted within 15 minutes, "
      "half as many if they lasted over 30 minutes. A section allocates twice as many increments "
      "if the last ones were exhausted within 0.1 seconds, half as many if they lasted over 1 "
      "second. The maximum is 1,000,000 numbers.",
      &segment_adapt, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  // An eviction scans all keys of a section and cannot be cancelled: a million take short enough.
  DefineCustomIntVariable(
      "snowid.section_keys", "Sets the maximum number of keys of a section in memory.",
      "Beyond it, keys are evicted after half as many others were used. An evicted key continues "
      "above all numbers issued for evicted keys.",
      &section_keys, kDefaultSectionKeys, 1, 1000000, PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
  bound_register("snowid.debug_max_counters", &max_counters);
  bound_register("snowid.debug_max_counters_of_database", &max_counters_of_database);
  bound_register("snowid.debug_least_section_keys", &least_section_keys);
}

}  // namespace snowid::pg
