// Sections: a counter for each of any number of keys. One sequence is the durable part of all of
// them: its last value is the limit that no key's numbers pass, raised by its INCREMENT. After a
// start of the server every key goes on above it.
//
// Memory has the keys that were used last. One number stands for all others, the floor: no key that
// memory does not know was given a greater one. A key that is new, or comes back, begins above it;
// one that leaves first raises it to its own last number.
//
// Which key leaves: time is counted in generations, in each of which half as many keys are used as
// there is room for. A key notes in which it was last used, so one that is busy writes nothing but
// its number. When there is no room, all leave that were used neither in this generation nor in the
// one before; if there are none, all that were not used in this one. Between the last use of one
// that leaves and now as many others were used as belong to a generation: all of those of the one
// before; or, if every key is of these two, those of this one, since there are no more than a
// generation's of the one before. (Fewer, by one for each session that drew while the generation
// ended.)
//
// section_next() calls, in this order: section_open(); keys_of() once in a session; next_of_key(),
// and for a key that memory does not know add_key(), make_room(), evict(); raise_limit() if the
// number would pass the limit, or comes near it.
//
// Shared: each section's table of keys, a dshash table. A number is drawn, and the floor read, with
// the key's partition locked; a key leaves with it locked exclusively. SharedSection::lock is for
// one process at a time to make keys leave. None is held while the limit is made durable. The
// sequence itself: see session_counter.hpp.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/session_counter.hpp"
#include "pg/errors.hpp"
#include "pg/sequence_page.hpp"
#include "pg/xact.hpp"

namespace snowid::pg {

namespace {

// The table of keys of a section, made if there is none. Requires: no LWLock is held. Raises: 53200
// or 53100 if there is no memory.
dshash_table* keys_of(Counter* counter) {
  if (likely(counter->keys != nullptr)) return counter->keys;
  assert_holds_none();
  SharedSection* section = counter->section;
  const dshash_parameters parameters = key_table_parameters();
  MemoryContext caller = MemoryContextSwitchTo(TopMemoryContext);
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  const dshash_table_handle handle = section->table.load();
  if (DsaPointerIsValid(handle)) {
    counter->keys = dshash_attach(shared_area, &parameters, handle, nullptr);
  } else {
    counter->keys = dshash_create(shared_area, &parameters, nullptr);
    section->table.store(dshash_get_hash_table_handle(counter->keys));
  }
  LWLockRelease(&section->lock);
  MemoryContextSwitchTo(caller);
  return counter->keys;
}

// The keys that a section may have now.
uint32 room_of(const SharedSection* section) noexcept {
  return std::min(section->room.load(std::memory_order_relaxed), static_cast<uint32>(section_keys));
}

// Notes that a key is used. Its partition is locked.
void note_use(SharedSection* section, SectionKey* key) noexcept {
  uint64 now = section->generation.load(std::memory_order_relaxed);
  uint64 last = key->generation.load(std::memory_order_relaxed);
  if (likely(last == now)) return;
  // Fails where another session has just counted it.
  if (!key->generation.compare_exchange_strong(last, now, std::memory_order_relaxed)) return;
  const uint32 room = room_of(section);
  if (section->used.fetch_add(1, std::memory_order_relaxed) + 1 < room - room / 2) return;
  if (section->generation.compare_exchange_strong(now, now + 1, std::memory_order_relaxed))
    section->used.store(0, std::memory_order_relaxed);
}

// Gives a key its next number, one above its last. Returns false, with nothing changed, if that is
// above the limit. Its partition is locked.
bool draw(SharedSection* section, SectionKey* key, int64* number) noexcept {
  const int64 limit = section->limit.load(std::memory_order_relaxed);
  int64 last = key->last.load(std::memory_order_relaxed);
  do {
    if (last >= limit) return false;
  } while (!key->last.compare_exchange_weak(last, last + 1, std::memory_order_relaxed));
  note_use(section, key);
  *number = last + 1;
  return true;
}

// For a subtransaction: whether there is memory.
void allocate_for_a_try(void*) {
  constexpr Size kEnough = 1024 * 1024;
  dsa_free(shared_area, dsa_allocate(shared_area, kEnough));
}

// Whether memory for a key was refused, and still is. Asks for some once a second at most.
// Requires: no LWLock is held.
bool is_memory_refused(SharedSection* section) {
  const int64 refused_us = section->refused_us.load(std::memory_order_relaxed);
  if (likely(refused_us == 0)) return false;
  if (is_recent({refused_us}, USECS_PER_SEC, unix_now())) return true;
  ErrorData* error = try_in_subtransaction(allocate_for_a_try, nullptr);
  section->refused_us.store(error == nullptr ? 0 : unix_now().value, std::memory_order_relaxed);
  if (error == nullptr) return false;
  if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES) ReThrowError(error);
  FreeErrorData(error);
  return true;
}

// Sets the keys that a section may have, unless another session has done so since it had `before`.
void set_room(SharedSection* section, uint32 before, uint32 room) {
  Usage* usage = usage_lock(key_quota, MyDatabaseId);
  if (section->room.compare_exchange_strong(before, room)) {
    if (room > before) count_made(key_quota, usage, room - before);
    if (room < before) count_gone(key_quota, usage, before - room);
  }
  usage_unlock(key_quota, usage);
}

// Lets a section have half as many keys more, up to what the setting allows. Returns false if it
// may not: that or a bound is reached, or there is no memory.
bool grow(SharedSection* section) {
  const uint32 has = section->room.load();
  const auto most = static_cast<uint32>(section_keys);
  const auto room = static_cast<uint32>(
      std::min<uint64>(std::max<uint64>(uint64{has} * 3 / 2 + 1, kFirstKeys), most));
  if (room > has && has != 0 && (is_memory_refused(section) || !sections_make_room(room - has)))
    return false;
  if (room != has) set_room(section, has, room);
  return room > has;
}

// Removes the keys that were last used at least so many generations ago from the table, and raises
// the floor. Returns how many. The section's lock is held.
uint32 remove_keys(SharedSection* section, dshash_table* table, uint64 generations) {
  assert_holds_exclusively(section->lock);
  const uint64 now = section->generation.load(std::memory_order_relaxed);
  uint32 removed = 0;
  dshash_seq_status scan;
  dshash_seq_init(&scan, table, true);
  while (const auto* key = static_cast<SectionKey*>(dshash_seq_next(&scan))) {
    if (key->generation.load(std::memory_order_relaxed) + generations > now && generations != 0)
      continue;
    // Before it leaves, with its partition locked, so that it comes back above.
    section->floor.store(std::max(section->floor.load(std::memory_order_relaxed),
                                  key->last.load(std::memory_order_relaxed)),
                         std::memory_order_relaxed);
    dshash_delete_current(&scan);
    section->keys.fetch_sub(1, std::memory_order_relaxed);
    removed++;
  }
  dshash_seq_term(&scan);
  return removed;
}

// Has keys leave until there is room for one.
void evict(SharedSection* section, dshash_table* table) {
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  for (uint64 generations : {2, 1, 0}) {
    if (section->keys.load(std::memory_order_relaxed) < room_of(section)) break;
    section->evictions.fetch_add(remove_keys(section, table, generations),
                                 std::memory_order_relaxed);
  }
  LWLockRelease(&section->lock);
}

// Sees to it that there is room for a key. Sessions that do so at once may bring a key each.
void make_room(SharedSection* section, dshash_table* table) {
  while (section->keys.load(std::memory_order_relaxed) >= room_of(section))
    if (!grow(section)) evict(section, table);
}

// The entry of a key, made if there is none, with its partition locked exclusively. Raises: 53200
// or 53100 if there is no memory; then keys leave early until there is.
SectionKey* find_or_make_key(SharedSection* section, dshash_table* table, int64 key, bool* found) {
  void* volatile entry = nullptr;
  PG_TRY();
  { entry = dshash_find_or_insert(table, &key, found); }
  PG_CATCH();
  {
    // With what the partition's lock guards as it was.
    LWLockReleaseAll();
    section->refused_us.store(unix_now().value);
    set_room(section, section->room.load(),
             std::max(static_cast<uint32>(section->keys.load()), kFirstKeys));
    PG_RE_THROW();
  }
  PG_END_TRY();
  return static_cast<SectionKey*>(entry);
}

// Gives a key that memory does not know, unless another session has just brought it, its next
// number. Returns false if that is above the limit.
bool add_key(SharedSection* section, dshash_table* table, int64 key, int64* number) {
  make_room(section, table);
  bool found;
  SectionKey* entry = find_or_make_key(section, table, key, &found);
  if (!found) {
    // A key that has left this partition has raised it before.
    const int64 floor = section->floor.load(std::memory_order_relaxed);
    // A limit that is lowered must find no key above it.
    if (floor >= section->limit.load(std::memory_order_relaxed)) {
      dshash_delete_entry(table, entry);
      return false;
    }
    entry->last.store(floor, std::memory_order_relaxed);
    entry->generation.store(PG_UINT64_MAX, std::memory_order_relaxed);
    section->keys.fetch_add(1, std::memory_order_relaxed);
  }
  const bool is_drawn = draw(section, entry, number);
  dshash_release_lock(table, entry);
  return is_drawn;
}

// Gives a key its next number. Returns false if that is above the limit.
bool next_of_key(Counter* counter, int64 key, int64* number) {
  SharedSection* section = counter->section;
  dshash_table* table = keys_of(counter);
  auto* entry = static_cast<SectionKey*>(dshash_find(table, &key, false));
  if (unlikely(entry == nullptr)) return add_key(section, table, key, number);
  const bool is_drawn = draw(section, entry, number);
  dshash_release_lock(table, entry);
  return is_drawn;
}

// How many increments to raise the limit by, by how long the last ones lasted.
uint64 increments_to_raise(const SharedSection* section, int64 increment, core::UnixMicros now) {
  Assert(is_mine(section->refill));
  if (section->increments == 0 || !segment_adapt) return 1;
  // They should last for a tenth of a second at least, so that sessions that draw much do not wait
  // for the disk.
  return core::adapted_step(section->increments, static_cast<uint64>(increment),
                            now.value - section->raised_us, {USECS_PER_SEC / 10, USECS_PER_SEC});
}

// Forgets all keys, so that each begins above `floor`. Until a limit is stored nobody draws: who
// had looked at the sequence before it was changed finds none that would do. The section's lock is
// held.
void forget_keys(SharedSection* section, dshash_table* table, int64 floor) {
  section->limit.store(PG_INT64_MIN);
  remove_keys(section, table, 0);
  section->floor.store(floor);
}

// Raises the sequence by its increment, or several, and makes that the limit. If others have
// changed the sequence, all keys are forgotten. Returns false where the sequence is at its maximum.
// The caller has the right to refill.
bool raise_sequence(Counter* counter, const SequenceOptions& options) {
  SharedSection* section = counter->section;
  Assert(is_mine(section->refill));
  dshash_table* table = keys_of(counter);
  const core::UnixMicros now = unix_now();
  const SequencePage page = counter_page_lock(counter);
  const SequenceValue value = sequence_page_value(page);
  // The greatest number that may have been given.
  const int64 used = value.is_called || value.last == PG_INT64_MIN ? value.last : value.last - 1;
  const bool is_exhausted = used >= options.max;
  XLogRecPtr lsn = InvalidXLogRecPtr;
  int64 limit = used;
  uint64 increments = 1;
  if (!is_exhausted) {
    if (is_as_known(counter, section->known, value))
      increments = increments_to_raise(section, options.increment, now);
    const uint64 room = static_cast<uint64>(options.max) - static_cast<uint64>(used);
    const uint64 step = std::min(increments * static_cast<uint64>(options.increment),
                                 std::max<uint64>(room / core::kPart, 1));
    increments = std::max<uint64>(step / static_cast<uint64>(options.increment), 1);
    limit = used + static_cast<int64>(step);
    lsn = counter_change(page, counter, &section->known, limit);
  }
  counter_page_unlock(page);
  if (is_exhausted) return false;

  sequence_make_durable(lsn);
  section->increments.store(increments);
  section->increment.store(static_cast<uint64>(options.increment));
  section->raised_us = now.value;
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  if (section->known.file.load() == 0) forget_keys(section, table, used);
  section->limit.store(limit);
  Assert(limit >= section->floor);
  // Half of what was raised is left, or there is nothing more to raise it to.
  section->alert.store(limit == options.max ? PG_INT64_MAX : limit - (limit - used) / 2);
  LWLockRelease(&section->lock);
  counter_settle(counter, &section->known);
  return true;
}

// Raises the limit above `was`; or, if another session has the right to, waits for that one, with
// kEarly not even that. Raises: 2200H if it must raise the limit and cannot; 55000 if the sequence
// cycles or counts down.
void raise_limit(Counter* counter, int64 was, Urgency urgency) {
  SharedSection* section = counter->section;
  if (!refill_begin(&section->refill)) {
    if (urgency == Urgency::kMust) refill_wait(&section->refill);
    return;
  }
  int64 took_us = 0;
  if (section->limit.load() <= was || !counter_is_as_known(counter, section->known)) {
    instr_time began;
    INSTR_TIME_SET_CURRENT(began);
    const SequenceOptions options = sequence_options(counter->relid);
    if (raise_sequence(counter, options))
      took_us = count_refill(&section->refills, began);
    else if (urgency == Urgency::kMust)
      counter_report_exhausted(counter->relid, options.max);
  }
  end_refill();
  log_if_slow(&section->refills, counter->relid, took_us);
}

// The counter of a sequence as a section, locked by this transaction.
Counter* section_open(Oid relid, AclMode rights) {
  Counter* counter = counter_open(relid, rights);
  if (unlikely(counter->section == nullptr)) counter->section = shared_section(relid);
  return counter;
}

int64 section_next(Oid relid, int64 key) {
  Counter* counter = section_open(relid, ACL_USAGE | ACL_UPDATE);
  SharedSection* section = counter->section;
  int64 number;
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    const int64 limit = section->limit.load(std::memory_order_relaxed);
    if (unlikely(!counter_is_as_known(counter, section->known))) {
      raise_limit(counter, PG_INT64_MIN, Urgency::kMust);
      continue;
    }
    if (likely(next_of_key(counter, key, &number))) {
      counter->drawn++;
      // One session raises the limit early, so that nobody else waits.
      if (unlikely(number >= section->alert.load(std::memory_order_relaxed)) &&
          !is_being_refilled(section->refill))
        raise_limit(counter, limit, Urgency::kEarly);
      return number;
    }
    raise_limit(counter, limit, Urgency::kMust);
  }
}

// The last number of a key. Returns false where memory does not know it.
bool current_of_key(Oid relid, int64 key, int64* number) {
  Counter* counter = section_open(relid, ACL_SELECT | ACL_USAGE);
  SharedSection* section = counter->section;
  if (!counter_is_as_known(counter, section->known)) return false;
  dshash_table* table = keys_of(counter);
  auto* entry = static_cast<SectionKey*>(dshash_find(table, &key, false));
  if (entry == nullptr) return false;
  *number = entry->last.load(std::memory_order_relaxed);
  dshash_release_lock(table, entry);
  return true;
}

}  // namespace

// snowid_section_next(section regclass, key bigint) → bigint
SNOWID_FUNCTION(snowid_section_next) {
  require_nextval("snowid_section_next()");
  PG_RETURN_INT64(section_next(PG_GETARG_OID(0), PG_GETARG_INT64(1)));
}

// snowid_section_current(section regclass, key bigint) → bigint, or null
SNOWID_FUNCTION(snowid_section_current) {
  int64 number;
  if (!current_of_key(PG_GETARG_OID(0), PG_GETARG_INT64(1), &number)) PG_RETURN_NULL();
  PG_RETURN_INT64(number);
}

}  // namespace snowid::pg
