// Sections: a counter for each of any number of keys. One sequence is the durable part of all of
// them: its last value is the limit that no key's numbers pass, raised by its INCREMENT. After a
// start of the server every key goes on above it.
//
// section_next() calls, in this order: section_open(); next_of_key(), which first tries
// draw_known(); take_number() and make_room_for_key() for a key that memory does not know;
// raise_limit() if the number would pass the limit, or comes near it.
//
// Shared: the table of keys. A process that draws a number of a key in the table holds one of the
// section's draw locks in shared mode, chosen by its process ID. One that adds or evicts a key, or
// looks one up otherwise, holds SharedSection::lock, while others go on to draw. What must not run
// beside a draw (core/section.hpp) takes that lock and all draw locks, exclusively. None is held
// while the limit is made durable. The sequence itself: see session_counter.hpp.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/session_counter.hpp"
#include "pg/errors.hpp"
#include "pg/sequence_page.hpp"

namespace snowid::pg {

namespace {

// A section's table as it was found, with its capacity, and the capacity of the table that is to
// replace it; 0 where none is.
struct Growth {
  dsa_pointer table;
  uint32 has;
  uint32 capacity;
};

// stop_draws() keeps other processes from drawing until resume_draws(). The section's lock is held.
void stop_draws(SharedSection* section) {
  assert_holds_exclusively(section->lock);
  for (DrawLock& draws : section->draw_locks) LWLockAcquire(&draws.lock, LW_EXCLUSIVE);
}

void resume_draws(SharedSection* section) {
  for (DrawLock& draws : section->draw_locks) LWLockRelease(&draws.lock);
}

// The table that the section needs: to have room for one key more, half as many as it has, or for
// no more keys than snowid.section_keys allows. The section's lock is held.
Growth growth_of(const SharedSection* section) {
  assert_holds(section->lock);
  const uint32 most = static_cast<uint32>(section_keys);
  const core::KeyTable* table = keys_at(section->table);
  if (table == nullptr) return {section->table, 0, std::min(kFirstKeys, most)};
  Growth growth{section->table, table->capacity, 0};
  if (table->capacity <= most && table->count < table->capacity) return growth;
  const uint32 capacity =
      static_cast<uint32>(std::min<uint64>(uint64{table->capacity} * 3 / 2 + 1, most));
  // If memory was refused a moment ago keys leave early.
  if (capacity != table->capacity && !is_recent({section->refused_us}, USECS_PER_SEC, unix_now()))
    growth.capacity = capacity;
  return growth;
}

// Counts the keys of a table, and those that have left it since `evicted` had. The section's lock
// is held.
void count_keys(SharedSection* section, const core::KeyTable* table, uint64 evicted) noexcept {
  assert_holds_exclusively(section->lock);
  section->keys.store(table->count, std::memory_order_relaxed);
  section->evictions.fetch_add(table->evicted - evicted, std::memory_order_relaxed);
}

// Puts a new table in the place of the one that was found, and copies to it the keys that fit; or,
// where `made` is InvalidDsaPointer, notes that there was no memory. Returns the table to be freed:
// the old one, or the new one where another session was quicker.
dsa_pointer replace_table(SharedSection* section, const Growth& growth, dsa_pointer made) {
  dsa_pointer useless = made;
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  core::KeyTable* before = keys_at(section->table);
  if (!DsaPointerIsValid(made)) {
    section->refused_us = unix_now().value;
  } else if (section->table == growth.table &&
             (before == nullptr || before->capacity == growth.has)) {
    useless = section->table;
    core::KeyTable* after = keys_at(made);
    stop_draws(section);
    if (before != nullptr)
      section->floor = std::max(section->floor, core::copy_keys(before, after, growth.capacity));
    section->table = made;
    count_keys(section, after, 0);
    resume_draws(section);
  }
  LWLockRelease(&section->lock);
  return useless;
}

// Tries to make room for a key, and makes sure that there is a table. Returns false if there can be
// no more room than there is: keys leave early then. Memory is allocated without the section's
// lock, so that others can add keys meanwhile. Raises: 53200 or 53100 if there is no memory for a
// section's first table.
bool make_room_for_key(SharedSection* section) {
  assert_holds_none();
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  const Growth growth = growth_of(section);
  LWLockRelease(&section->lock);
  if (growth.capacity == 0) return false;
  if (growth.has != 0 && growth.capacity > growth.has && !sections_make_room(growth.capacity))
    return false;
  const dsa_pointer made =
      growth.has == 0 ? keys_allocate(growth.capacity) : keys_try_to_allocate(growth.capacity);
  const dsa_pointer useless = replace_table(section, growth, made);
  if (DsaPointerIsValid(useless)) keys_free(useless);
  return DsaPointerIsValid(made);
}

// Whether the table is no larger than the setting allows.
bool is_within_setting(const core::KeyTable* table) noexcept {
  return table->capacity <= static_cast<uint32>(section_keys);
}

// Gives a key that the table knows its next number, beside others. Returns false, with nothing
// changed, where it takes more than that.
bool draw_known(SharedSection* section, int64 key, int64* number) {
  LWLock* lock = &section->draw_locks[MyProcPid % kDrawLocks].lock;
  LWLockAcquire(lock, LW_SHARED);
  core::KeyTable* table = keys_at(section->table);
  const int64 limit = section->limit.load(std::memory_order_relaxed);
  const bool is_drawn = likely(table != nullptr && is_within_setting(table)) &&
                        core::draw_known(table, key, limit, number);
  LWLockRelease(lock);
  return is_drawn;
}

// Gives a key its next number from the table as it is. Returns kNoRoom where there is no table;
// and, unless a key may be evicted, where the key has no room, or the table is too large for the
// setting.
core::SectionStatus take_number(SharedSection* section, int64 key, bool may_evict, int64* number) {
  core::SectionStatus status = core::SectionStatus::kNoRoom;
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  core::KeyTable* table = keys_at(section->table);
  const uint64 evicted = table == nullptr ? 0 : table->evicted;
  while (table != nullptr && (may_evict || is_within_setting(table))) {
    const int64 limit = section->limit.load(std::memory_order_relaxed);
    status = core::next_of_key(table, &section->floor, key, limit, may_evict, number);
    if (status != core::SectionStatus::kOver) break;
    stop_draws(section);
    core::end_generation(table);
    resume_draws(section);
  }
  if (status == core::SectionStatus::kOk) count_keys(section, table, evicted);
  LWLockRelease(&section->lock);
  return status;
}

// Gives a key its next number.
core::SectionStatus next_of_key(SharedSection* section, int64 key, int64* number) {
  if (likely(draw_known(section, key, number))) return core::SectionStatus::kOk;
  core::SectionStatus status = take_number(section, key, false, number);
  // In a loop, since other sessions may take the table away after make_room(), or use the room up.
  while (status == core::SectionStatus::kNoRoom)
    status = take_number(section, key, !make_room_for_key(section), number);
  return status;
}

// How many increments to raise the limit by, by how long the last ones lasted.
uint64 increments_to_raise(const SharedSection* section, int64 increment, core::UnixMicros now) {
  Assert(is_mine(section->refill));
  if (section->increments == 0 || !segment_adapt) return 1;
  return core::adapted_increments(section->increments, static_cast<uint64>(increment),
                                  now.value - section->raised_us);
}

// Forgets all keys, so that each begins above `floor`. Returns the table to be freed. Freeing may
// fail, so the caller does it last, when the section is consistent: sessions that looked at the
// sequence before it was changed go on to draw. The section's lock is held.
dsa_pointer forget_keys(SharedSection* section, int64 floor) {
  stop_draws(section);
  const dsa_pointer table = section->table;
  section->table = InvalidDsaPointer;
  section->floor = floor;
  section->keys.store(0, std::memory_order_relaxed);
  resume_draws(section);
  return table;
}

// Raises the sequence by its increment, or several, and makes that the limit. If others have
// changed the sequence, all keys are forgotten. Returns false where the sequence is at its maximum.
// The caller has the right to refill.
bool raise_sequence(Counter* counter, const SequenceOptions& options) {
  SharedSection* section = counter->section;
  Assert(is_mine(section->refill));
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
  const dsa_pointer useless =
      section->known.file.load() == 0 ? forget_keys(section, used) : InvalidDsaPointer;
  section->limit.store(limit);
  Assert(limit >= section->floor);
  // Half of what was raised is left, or there is nothing more to raise it to.
  section->alert.store(limit == options.max ? PG_INT64_MAX : limit - (limit - used) / 2);
  LWLockRelease(&section->lock);
  counter_settle(counter, &section->known);
  // Last, for it may fail.
  if (DsaPointerIsValid(useless)) keys_free(useless);
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
    if (likely(next_of_key(section, key, &number) == core::SectionStatus::kOk)) {
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
  LWLockAcquire(&section->lock, LW_SHARED);
  core::KeyTable* table = keys_at(section->table);
  const uint32 at = table == nullptr ? core::kNoNode : core::find_key(table, key);
  if (at != core::kNoNode) *number = table->nodes[at].last.load(std::memory_order_relaxed);
  LWLockRelease(&section->lock);
  return at != core::kNoNode;
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_section_next);
SNOWID_FUNCTION(snowid_section_current);

// snowid_section_next(section regclass, key bigint) → bigint
Datum snowid_section_next(PG_FUNCTION_ARGS) {
  require_nextval("snowid_section_next()");
  PG_RETURN_INT64(section_next(PG_GETARG_OID(0), PG_GETARG_INT64(1)));
}

// snowid_section_current(section regclass, key bigint) → bigint, or null
Datum snowid_section_current(PG_FUNCTION_ARGS) {
  int64 number;
  if (!current_of_key(PG_GETARG_OID(0), PG_GETARG_INT64(1), &number)) PG_RETURN_NULL();
  PG_RETURN_INT64(number);
}
}
