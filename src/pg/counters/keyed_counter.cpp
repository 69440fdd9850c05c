// Sections: a counter for each of any number of keys. A sequence is the durable part of all of
// them: its last value is the limit, the upper bound on the numbers of all keys, raised by its
// INCREMENT. After a restart every key continues above it.
//
// Memory holds the most recently used keys. The floor is the upper bound on the numbers of all
// other keys: a new or returning key begins above it; an evicted key first raises it to its last.
//
// Eviction: a generation ends when half as many keys have been used as there is room for. A key
// stores only the generation of its last use; therefore a busy key writes nothing but its number.
// When there is no room, all keys used neither in this generation nor in the previous one are
// evicted; if there are none, all not used in this one. Between the last use of an evicted key and
// its eviction at least a generation of other keys was used (fewer, by one for each session that
// issued a number while the generation ended).
//
// snowid_section_next() calls, in this order: section_open(); next_of_key(), and for a key not in
// memory add_key(), make_room(), and grow(), enlarge() or evict(); raise_limit() if the limit is
// near or reached.
//
// Shared: the keys of a section, in partitions. The key's partition is locked in shared mode to
// issue a number and to read the floor, exclusively to evict. SharedSection::lock serializes
// evictions. No lock is held while the limit is made durable.
#include "pg/postgres.hpp"

#include "core/adapting_step.hpp"
#include "core/key_table.hpp"
#include "core/known.hpp"
#include "core/segment.hpp"
#include "core/types.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/errors.hpp"
#include "pg/sequence_page.hpp"
#include "pg/xact.hpp"

namespace snowid::pg {

namespace {

// Slots of a partition at its first key: 200 bytes. A new section has none.
constexpr uint32 kFirstCapacity = 8;

// Requires: the partition is locked and has slots. Raises: 53200 if they cannot be mapped.
core::KeyTable keys_of(const KeyPartition* partition) {
  return {static_cast<core::KeySlot*>(dsa_get_address(shared_area, partition->slots)),
          partition->capacity.load(std::memory_order_relaxed)};
}

struct Key {
  int64 key;  // as in memory, see SharedSection::seed
  uint64 hash;
  KeyPartition* partition;
  core::KeySlot* slot;  // nullptr if not in memory
};

// Finds a key and locks its partition in shared mode. Raises: 53200 if it cannot be mapped.
Key lock_key(SharedSection* section, int64 key) {
  const auto seeded = static_cast<int64>(static_cast<uint64>(key) ^ section->seed);
  const uint64 hash = core::hash_of_key(seeded);
  KeyPartition* partition = &section->partitions[hash % kKeyPartitions];
  LWLockAcquire(&partition->lock, LW_SHARED);
  if (partition->capacity.load(std::memory_order_relaxed) == 0)
    return {seeded, hash, partition, nullptr};
  core::KeySlot* slot = core::find_slot(keys_of(partition), seeded, hash);
  return {seeded, hash, partition, core::is_empty(*slot) ? nullptr : slot};
}

bool is_full(const KeyPartition* partition) noexcept {
  return partition->keys.load(std::memory_order_relaxed) >=
         core::max_keys(partition->capacity.load(std::memory_order_relaxed));
}

uint32 room_of(const SharedSection* section) noexcept {
  return std::min(section->room.load(std::memory_order_relaxed), static_cast<uint32>(section_keys));
}

// Issues a key's next number, one above its last. Returns false, with nothing changed, if it would
// exceed the limit. Requires: the key's partition is locked. Its cache line is this processor's.
bool issue_next(SharedSection* section, KeyPartition* partition, core::KeySlot* key,
                int64* number) noexcept {
  const int64 limit = section->limit.load(std::memory_order_relaxed);
  int64 last = key->last.load(std::memory_order_relaxed);
  do {
    if (last >= limit) return false;
  } while (!key->last.compare_exchange_weak(last, last + 1, std::memory_order_relaxed));
  partition->issued.fetch_add(1, std::memory_order_relaxed);
  const uint32 room = room_of(section);
  core::note_use(&section->uses, key, room - room / 2);
  *number = last + 1;
  return true;
}

// Does nothing if another session has changed the number of keys from `before`.
void set_room(SharedSection* section, uint32 before, uint32 room) {
  Usage* usage = usage_lock(key_quota, MyDatabaseId);
  if (section->room.compare_exchange_strong(before, room)) {
    if (room > before) count_made(key_quota, usage, room - before);
    if (room < before) count_gone(key_quota, usage, before - room);
  }
  usage_unlock(key_quota, usage);
}

// Makes room for half as many keys more. Returns false if the setting or a bound is reached.
bool grow(SharedSection* section) {
  const uint32 has = section->room.load();
  const auto most = static_cast<uint32>(section_keys);
  const auto room = static_cast<uint32>(
      std::min<uint64>(std::max<uint64>(uint64{has} * 3 / 2 + 1, kFirstKeys), most));
  if (room > has && has != 0 && !sections_make_room(room - has)) return false;
  if (room != has) set_room(section, has, room);
  return room > has;
}

struct NewSlots {
  uint32 capacity;
  dsa_pointer slots;
};

// Allocates slots. Returns false if memory is exhausted, or was within the last second. Requires:
// no LWLock held. Raises: 53200 or 53100 if memory is exhausted for the first slots of a partition.
bool allocate(SharedSection* section, NewSlots* made) {
  const auto allocate_slots = [made] {
    made->slots = dsa_allocate0(shared_area, made->capacity * sizeof(core::KeySlot));
  };
  if (made->capacity == kFirstCapacity) {
    allocate_slots();
    return true;
  }
  const int64 refused_us = section->refused_us.load(std::memory_order_relaxed);
  if (unlikely(refused_us != 0) && is_recent({refused_us}, USECS_PER_SEC, unix_now())) return false;
  ErrorData* error = try_in_subtransaction(allocate_slots);
  section->refused_us.store(error == nullptr ? 0 : unix_now().value, std::memory_order_relaxed);
  if (error == nullptr) return true;
  // The subtransaction may fail at its own end, after the allocation.
  if (DsaPointerIsValid(made->slots)) dsa_free(shared_area, made->slots);
  if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES) ReThrowError(error);
  FreeErrorData(error);
  return false;
}

// Exchanges the slots of a partition for these. Requires: it is locked exclusively.
void set_slots(KeyPartition* partition, NewSlots* slots) noexcept {
  const uint32 before = partition->capacity.load(std::memory_order_relaxed);
  key_quota.server->key_slots.fetch_add(slots->capacity - before, std::memory_order_relaxed);
  partition->capacity.store(slots->capacity, std::memory_order_relaxed);
  std::swap(partition->slots, slots->slots);
}

// Doubles the slots. Returns false if memory is exhausted. Requires, raises: as allocate().
bool enlarge(SharedSection* section, KeyPartition* partition) {
  LWLockAcquire(&partition->lock, LW_SHARED);
  const uint32 capacity = partition->capacity.load(std::memory_order_relaxed);
  const dsa_pointer slots = partition->slots;
  // Mapped first, because an error below would leak the new slots.
  if (capacity != 0) (void)keys_of(partition);
  LWLockRelease(&partition->lock);
  NewSlots made{std::max(2 * capacity, kFirstCapacity), InvalidDsaPointer};
  if (!allocate(section, &made))
    return partition->capacity.load(std::memory_order_relaxed) != capacity;
  const core::KeyTable larger{static_cast<core::KeySlot*>(dsa_get_address(shared_area, made.slots)),
                              made.capacity};
  LWLockAcquire(&partition->lock, LW_EXCLUSIVE);
  // Another session may have enlarged the partition, or freed its slots and allocated others.
  if (partition->slots == slots &&
      partition->capacity.load(std::memory_order_relaxed) == capacity) {
    if (capacity != 0) core::copy_keys(keys_of(partition), larger);
    set_slots(partition, &made);
  }
  LWLockRelease(&partition->lock);
  if (DsaPointerIsValid(made.slots)) dsa_free(shared_area, made.slots);
  return true;
}

// Evicts keys not used for `generations` generations (0: all), raises the floor, and frees the
// slots of empty partitions. Returns the number of keys. Requires: the section's lock.
uint32 remove_keys(SharedSection* section, uint64 generations) {
  assert_holds_exclusively(section->lock);
  const uint64 now = core::generation_of(section->uses.load(std::memory_order_relaxed));
  const auto leaves = [section, now, generations](const core::KeySlot& slot) {
    if (slot.generation.load(std::memory_order_relaxed) + generations > now && generations != 0)
      return false;
    // Before the key is removed, with its partition locked, to have it return above.
    section->floor.store(std::max(section->floor.load(std::memory_order_relaxed),
                                  slot.last.load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
    return true;
  };
  uint32 removed = 0;
  for (KeyPartition& partition : section->partitions) {
    NewSlots freed{0, InvalidDsaPointer};
    LWLockAcquire(&partition.lock, LW_EXCLUSIVE);
    if (partition.capacity.load(std::memory_order_relaxed) != 0) {
      const uint32 gone = core::remove_keys_if(keys_of(&partition), leaves);
      if (partition.keys.fetch_sub(gone, std::memory_order_relaxed) == gone)
        set_slots(&partition, &freed);
      section->keys.fetch_sub(gone, std::memory_order_relaxed);
      removed += gone;
    }
    LWLockRelease(&partition.lock);
    if (DsaPointerIsValid(freed.slots)) dsa_free(shared_area, freed.slots);
  }
  return removed;
}

bool has_room(const SharedSection* section) noexcept {
  return section->keys.load(std::memory_order_relaxed) < room_of(section);
}

// Evicts keys, unless there is room: in `partition`, or in the section if it is nullptr.
void evict(SharedSection* section, const KeyPartition* partition) {
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  if (partition != nullptr ? is_full(partition) : !has_room(section)) {
    for (uint64 generations : {2, 1, 0}) {
      const uint32 removed = remove_keys(section, generations);
      section->evictions.fetch_add(removed, std::memory_order_relaxed);
      if (removed != 0) break;
    }
  }
  LWLockRelease(&section->lock);
}

// Concurrent sessions may each add a key beyond the room. Requires, raises: as allocate().
void make_room(SharedSection* section, KeyPartition* partition) {
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    if (!has_room(section)) {
      if (!grow(section)) evict(section, nullptr);
    } else if (is_full(partition)) {
      if (!enlarge(section, partition)) evict(section, partition);
    } else {
      return;
    }
  }
}

// Issues the next number of a key not in memory, or just added by another session. Returns false if
// it would exceed the limit. Raises: as make_room().
bool add_key(SharedSection* section, const Key& key, int64* number) {
  KeyPartition* partition = key.partition;
  for (;;) {
    make_room(section, partition);
    LWLockAcquire(&partition->lock, LW_EXCLUSIVE);
    if (likely(!is_full(partition))) break;
    LWLockRelease(&partition->lock);
  }
  core::KeySlot* slot = core::find_slot(keys_of(partition), key.key, key.hash);
  if (core::is_empty(*slot)) {
    // The limit first: raise_sequence() stores the floor before the new limit.
    const int64 limit = section->limit.load(std::memory_order_acquire);
    // A key evicted from this partition raised it with the partition locked.
    const int64 floor = section->floor.load(std::memory_order_relaxed);
    // A lowered limit must find no key above it.
    if (floor >= limit) {
      LWLockRelease(&partition->lock);
      return false;
    }
    slot->key = key.key;
    slot->last.store(floor, std::memory_order_relaxed);
    slot->generation.store(1, std::memory_order_relaxed);
    partition->keys.fetch_add(1, std::memory_order_relaxed);
    section->keys.fetch_add(1, std::memory_order_relaxed);
  }
  const bool is_issued = issue_next(section, partition, slot, number);
  LWLockRelease(&partition->lock);
  return is_issued;
}

// Returns false if the next number would exceed the limit.
bool next_of_key(SharedSection* section, int64 value, int64* number) {
  const Key key = lock_key(section, value);
  const bool is_known = likely(key.slot != nullptr);
  const bool is_issued = is_known && issue_next(section, key.partition, key.slot, number);
  LWLockRelease(&key.partition->lock);
  return is_known ? is_issued : add_key(section, key, number);
}

// Raises the sequence by one or more increments, and the limit to it. Evicts all keys if the
// sequence was changed otherwise. Returns false if it is exhausted. Requires: the right to refill.
bool raise_sequence(Counter* counter, const SequenceOptions& options) {
  SharedSection* section = counter->section;
  Assert(is_mine(section->refill));
  const core::UnixMicros now = unix_now();
  const SequencePage page = counter_page_lock(counter);
  const SequenceValue value = sequence_page_value(page.buffer);
  // The greatest number that may have been issued.
  const int64 used = value.is_called || value.last == PG_INT64_MIN ? value.last : value.last - 1;
  if (used >= options.max) {
    counter_page_unlock(page);
    return false;
  }
  const auto increment = static_cast<uint64>(options.increment);
  uint64 wanted = 1;
  // At least 0.1 s, to keep busy sessions from waiting for the disk.
  if (segment_adapt && section->increments != 0 &&
      core::is_as_known(section->known, file_of(counter->file), value))
    wanted = core::adapted_step(section->increments, increment, now.value - section->raised_us,
                                {USECS_PER_SEC / 10, USECS_PER_SEC});
  const auto [increments, limit] = core::raise_by(used, options.max, wanted, increment);
  const XLogRecPtr lsn = counter_change(page, counter, &section->known, limit);
  counter_page_unlock(page);

  sequence_make_durable(lsn);
  section->increments.store(increments);
  section->increment.store(increment);
  section->raised_us.store(now.value);
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  if (section->known.file.load() == 0) {
    // Until the new limit is stored, no session issues a number, not even one that checked the
    // sequence before its change.
    section->limit.store(PG_INT64_MIN);
    remove_keys(section, 0);
    section->floor.store(used);
  }
  section->limit.store(limit);
  Assert(limit >= section->floor);
  // Early when half of the increments are left, unless the maximum is reached.
  section->alert.store(limit == options.max ? PG_INT64_MAX : limit - (limit - used) / 2);
  LWLockRelease(&section->lock);
  counter_settle(counter, &section->known);
  return true;
}

// Raises the limit above `was`, or waits for another session's refill; with kEarly does not wait.
// Raises: 2200H if the sequence is exhausted, with kMust; 55000 if it cycles or counts down.
void raise_limit(Counter* counter, int64 was, Urgency urgency) {
  SharedSection* section = counter->section;
  if (!refill_begin(&section->refill)) {
    if (urgency == Urgency::kMust) refill_wait(&section->refill);
    return;
  }
  if (section->limit.load() <= was || !counter_is_as_known(counter, section->known)) {
    instr_time began;
    INSTR_TIME_SET_CURRENT(began);
    const SequenceOptions options = sequence_options(counter->relid);
    if (raise_sequence(counter, options))
      finish_refill(&section->refills, counter->relid, began);
    else if (urgency == Urgency::kMust)
      counter_report_exhausted(counter->relid, options.max);
  }
  end_refill();
}

Counter* section_open(Oid relid, AclMode rights) {
  Counter* counter = counter_open(relid, rights);
  if (unlikely(counter->section == nullptr))
    counter->section = static_cast<SharedSection*>(shared_counter(&sections, relid));
  return counter;
}

}  // namespace

SNOWID_FUNCTION(snowid_section_next) {
  require_nextval("snowid_section_next()");
  const int64 key = PG_GETARG_INT64(1);
  Counter* counter = section_open(PG_GETARG_OID(0), ACL_USAGE | ACL_UPDATE);
  SharedSection* section = counter->section;
  int64 number;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const int64 limit = section->limit.load(std::memory_order_relaxed);
    if (unlikely(!counter_is_as_known(counter, section->known))) {
      raise_limit(counter, PG_INT64_MIN, Urgency::kMust);
      continue;
    }
    if (likely(next_of_key(section, key, &number))) {
      // One session raises the limit early, to keep others from waiting.
      if (unlikely(number >= section->alert.load(std::memory_order_relaxed)) &&
          !is_being_refilled(section->refill))
        raise_limit(counter, limit, Urgency::kEarly);
      PG_RETURN_INT64(number);
    }
    raise_limit(counter, limit, Urgency::kMust);
  }
}

SNOWID_FUNCTION(snowid_section_current) {
  Counter* counter = section_open(PG_GETARG_OID(0), ACL_SELECT | ACL_USAGE);
  if (!counter_is_as_known(counter, counter->section->known)) PG_RETURN_NULL();
  const Key key = lock_key(counter->section, PG_GETARG_INT64(1));
  const bool is_known = key.slot != nullptr;
  const int64 last = is_known ? key.slot->last.load(std::memory_order_relaxed) : 0;
  LWLockRelease(&key.partition->lock);
  if (!is_known) PG_RETURN_NULL();
  PG_RETURN_INT64(last);
}

}  // namespace snowid::pg
