// A counter as a session sees it: an ordinary sequence whose numbers sessions draw from shared
// memory, as a segment (sequence_cache.cpp) or a section (keyed_counter.cpp). This is what the two
// have in common.
//
// Called in this order: counter_open() and counter_is_as_known() for each draw; by the session that
// has the right to refill counter_page_lock(), counter_change() and counter_page_unlock(), then
// sequence_make_durable() (sequence_page.hpp) and counter_settle().
//
// Shared: the sequence itself. A session that draws takes the sequence's lock, in RowExclusiveLock,
// once in a transaction, and keeps it, as nextval does. So nobody can drop or alter the sequence
// while a transaction that has drawn from it is open, and the next draw sees the new state. setval
// takes the same lock, and does not wait; so each draw looks at the sequence's page. Only the
// session that has the right to refill (counter_state.hpp) changes the page.
#pragma once

#include "pg/postgres.hpp"

#include "core/known.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/sequence_page.hpp"

extern "C" {
#include "access/xact.h"
#include "nodes/parsenodes.h"
}

namespace snowid::pg {

// Belongs to one process. Made once for each sequence that the session uses, and never freed.
struct Counter {
  Oid relid;                     // the key
  LocalTransactionId locked_in;  // the transaction in which this session has last locked it
  bool is_looked_at;             // `file` holds: no invalidation has named the sequence since
  bool is_pinned;                // whether this transaction has its page pinned
  FileLocator file;              // its storage
  Buffer buffer;                 // the buffer that last held its page, or InvalidBuffer
  uint64 drawn;                  // numbers of the section that its entry does not count yet
  // The shared entries, of which the session is counted in as a user; nullptr where it has not used
  // the sequence as a segment, or as a section.
  SharedSegment* segment;
  SharedSection* section;
};

// Adds what this session has drawn to what the sections' entries count. Otherwise the end of the
// transaction does: each draw writing to what all share would cost it more.
void counter_flush_counts() noexcept;

// The counter of a sequence, which is then locked by this transaction. rights: the user needs one
// of them. Raises: 42P01 if there is no such relation; 42809 if it is no sequence, or one of
// snowid's own; 0A000 if it is temporary; 42501 if the user has none of the rights.
Counter* counter_open(Oid relid, AclMode rights);

// Whether the sequence is as it was when its numbers in memory were allocated, by a look at its
// page without a lock. The counter is open in this transaction.
bool counter_is_as_known(Counter* counter, const core::Known& known);

// 2200H, as nextval has it.
[[noreturn]] void counter_report_exhausted(Oid relid, int64 max);

// Opens the sequence of a counter and locks its page, as sequence_page_lock() does; and the
// reverse.
SequencePage counter_page_lock(const Counter* counter);
void counter_page_unlock(const SequencePage& page);

// Changes the locked page so that `last` was the last value, or, where is_called is false, is the
// next one; and *known to match. Until counter_settle() the numbers that were in memory before stay
// valid, if they were. Returns the end of the WAL record as sequence_page_set() does. The caller
// has the right to refill.
XLogRecPtr counter_change(const SequencePage& page, const Counter* counter, core::Known* known,
                          int64 last, bool is_called = true);

// Says in *known that the numbers in memory are those of the sequence as it was last changed. To be
// called once the change is durable and the numbers are in memory.
void counter_settle(const Counter* counter, core::Known* known);

// Called by module.cpp.
void at_eoxact_counters(XactEvent event);
void at_eosubxact_counters(SubXactEvent event);
void at_exit_counters();
void on_relcache_counters(Oid relid);

// Whether a sequence with this value on its page is as it was when its numbers in memory were
// allocated.
inline bool is_as_known(const Counter* counter, const core::Known& known,
                        const SequenceValue& value) noexcept {
  return core::is_as_known(known, file_of(counter->file), value);
}

}  // namespace snowid::pg
