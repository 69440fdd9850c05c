// Sections: a counter for each of any number of keys, of which one sequence keeps the durable part:
// its last value is the limit that no key's numbers pass, raised by its INCREMENT. After a start of
// the server every key goes on above it.
//
// Shared: SharedSection::lock guards the table of keys. It is taken for each number, and never
// while the limit is raised. See counter.hpp for the locks on the sequence.
#include "pg/compat.hpp"
#include "pg/counter.hpp"
#include "pg/errors.hpp"
#include "pg/settings.hpp"

namespace snowid::pg {

namespace {

// A table begins with room for so many keys, and grows by half.
constexpr uint32 kFirstKeys = 100;

// Gives the section a table with room for so many keys, and moves there what fits. Returns false
// where there is no memory for it.
bool resize(SharedSection* section, uint32 capacity) {
  const core::KeyTable* before = shared_keys(section->table);
  const bool must = before == nullptr || before->capacity > capacity;
  const dsa_pointer made = shared_allocate_keys(capacity, must);
  if (!DsaPointerIsValid(made)) return false;
  if (before != nullptr) {
    auto* table = shared_keys(made);
    section->state.floor = std::max(section->state.floor, core::CopyKeys(before, table, capacity));
  }
  shared_free_keys(section);
  section->table = made;
  return true;
}

// Sees to it that there is a table, with room for a key more or for as many as the setting allows.
void make_room(SharedSection* section) {
  const uint32 most = static_cast<uint32>(section_keys);
  const core::KeyTable* table = shared_keys(section->table);
  uint32 capacity = std::min(kFirstKeys, most);
  if (table != nullptr) {
    if (table->capacity <= most && table->count < table->capacity) return;
    capacity = static_cast<uint32>(std::min<uint64>(uint64{table->capacity} * 3 / 2 + 1, most));
    if (capacity == table->capacity) return;
  }
  // Where memory is short, or what the database may have is used up, keys leave early.
  if (!resize(section, capacity) && table == nullptr)
    ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of shared memory"),
                    errhint("Lower \"snowid.section_keys\".")));
}

// Gives a key its next number.
core::SectionStatus next_of_key(SharedSection* section, int64 key, int64* number) {
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  core::KeyTable* table = shared_keys(section->table);
  const int64 limit = section->limit.load(std::memory_order_relaxed);
  core::SectionStatus status = core::SectionStatus::kNoRoom;
  if (likely(table != nullptr && table->capacity <= static_cast<uint32>(section_keys)))
    status = core::NextOfKey(table, &section->state, key, limit, false, number);
  if (unlikely(status == core::SectionStatus::kNoRoom)) {
    make_room(section);
    status =
        core::NextOfKey(shared_keys(section->table), &section->state, key, limit, true, number);
  }
  LWLockRelease(&section->lock);
  return status;
}

// Raises the sequence by its increment and makes that the limit, with the right to do so. The keys
// of a sequence that was changed are forgotten. Returns false where the sequence cannot be raised.
bool raise(Counter* counter, const CounterOptions& options) {
  SharedSection* section = counter->section;
  const SequencePage page = counter_page_lock(counter);
  const SequenceValue value = SequencePageValue(page);
  // Numbers up to here may have been given.
  const int64 used = value.is_called || value.last == PG_INT64_MIN ? value.last : value.last - 1;
  const bool is_exhausted = used >= options.max;
  XLogRecPtr lsn = InvalidXLogRecPtr;
  int64 limit = used;
  if (!is_exhausted) {
    const uint64 room = static_cast<uint64>(options.max) - static_cast<uint64>(used);
    limit = used + static_cast<int64>(std::min(room, static_cast<uint64>(options.increment)));
    lsn = counter_change(page, counter, &section->known, limit);
  }
  counter_page_unlock(page);
  if (is_exhausted) return false;

  sequence_make_durable(lsn);
  LWLockAcquire(&section->lock, LW_EXCLUSIVE);
  if (section->known.file.load() == 0) {
    shared_free_keys(section);
    section->state = {used, used};
  }
  section->limit.store(limit);
  // Half of what was raised is left, or there is nothing more to raise it to.
  section->alert.store(limit == options.max ? PG_INT64_MAX : limit - (limit - used) / 2);
  LWLockRelease(&section->lock);
  counter_settle(counter, &section->known);
  return true;
}

// Raises the limit above what it was, or, where another session does, waits for it; with kEarly it
// does not wait.
void raise_limit(Counter* counter, int64 was, Urgency urgency) {
  SharedSection* section = counter->section;
  if (!buying_begin(&section->buying)) {
    if (urgency == Urgency::kMust) buying_wait(&section->buying);
    return;
  }
  if (section->limit.load() <= was || !counter_is_as_known(counter, section->known)) {
    const CounterOptions options = counter_options(counter->relid);
    if (!raise(counter, options) && urgency == Urgency::kMust)
      counter_report_exhausted(counter->relid, options.max);
  }
  EndBuying();
}

// The counter of a sequence as a section, locked by this transaction.
Counter* section_open(Oid relid, AclMode rights) {
  Counter* counter = counter_open(relid, rights);
  if (unlikely(counter->section == nullptr)) {
    shared_attach();
    counter->section = shared_section(relid);
  }
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
      // One session raises the limit early, so that nobody else waits.
      if (unlikely(number >= section->alert.load(std::memory_order_relaxed)))
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
  core::KeyTable* table = shared_keys(section->table);
  const uint32 at = table == nullptr ? core::kNoNode : core::FindKey(table, key);
  if (at != core::kNoNode) *number = table->nodes[at].last;
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
