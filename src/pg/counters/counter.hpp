// A counter: an ordinary sequence that numbers are drawn from by way of shared memory, as a session
// knows it. What segments and sections have in common.
//
// Shared: the sequence itself. A session that draws takes its lock, in RowExclusiveLock, once in a
// transaction and keeps it, as nextval does: nobody can drop or alter the sequence while a
// transaction that has drawn from it is open, and who draws next sees the new state. setval takes
// no more than that lock, so the sequence's page is looked at for each draw. Who refills
// has the right to, see refill.hpp.
#pragma once

#include "pg/counters/store.hpp"
#include "pg/prelude.hpp"
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

// Belongs to one process. Made once for each sequence that the session uses.
struct Counter {
  Oid relid;                     // the key
  LocalTransactionId locked_in;  // the transaction in which this session has last locked it
  bool is_looked_at;             // and no invalidation has named it since
  bool is_pinned;                // its page, by this transaction
  bool is_listed;                // among those that this transaction has pinned at some time
  FileLocator file;              // its storage
  Buffer buffer;                 // where its page was last
  Counter* next_pinned;
  // The shared entries, which the session is counted in as a user of; nullptr where it has not used
  // the sequence as such. They are the sequence's for as long as the session keeps them.
  SharedSegment* segment;
  SharedSection* section;
};

// What CREATE SEQUENCE has said about a sequence.
struct CounterOptions {
  int64 increment;
  int64 max;
};

// Fails with 42P01 where there is no such relation, with 42809 where it is not a sequence.
void require_sequence(Oid relid);

// The counter of a sequence, locked by this transaction. rights: any of which will do. Fails as
// require_sequence() does, with 0A000 where it is a temporary one, and 42501 where the user has
// none of the rights.
Counter* counter_open(Oid relid, AclMode rights);

// Whether the sequence is as it was when its numbers in memory were allocated.
bool counter_is_as_known(Counter* counter, const Known& known);

// The sequence's options. Fails with 55000 where it cycles, since numbers would repeat, or counts
// down.
CounterOptions counter_options(Oid relid);

// 2200H, as nextval has it.
[[noreturn]] void counter_report_exhausted(Oid relid, int64 max);

// Locks the page of a counter's sequence, as sequence_page_lock() does.
SequencePage counter_page_lock(const Counter* counter);
void counter_page_unlock(const SequencePage& page);

// Has the sequence, whose page is locked, say that `last` was its last value, or is the next where
// it is not called, and *known that it does. Sessions that look before counter_settle() find it as
// known if it was.
XLogRecPtr counter_change(const SequencePage& page, const Counter* counter, Known* known,
                          int64 last, bool is_called = true);

// The numbers in memory go with what the sequence says now.
void counter_settle(const Counter* counter, Known* known);

// Whether the sequence, whose page is locked, is as it was when its numbers in memory were
// allocated.
inline bool IsAsKnown(const Counter* counter, const Known& known, SequenceValue value) {
  const XLogRecPtr lsn = known.lsn_after.load(std::memory_order_acquire);
  return known.file.load(std::memory_order_acquire) == file_of(counter->file) &&
         value.last == known.after.load(std::memory_order_acquire) &&
         value.is_called == known.is_called.load(std::memory_order_acquire) &&
         value.log_cnt == known.log_cnt.load(std::memory_order_acquire) &&
         (value.lsn == lsn || XLogRecPtrIsInvalid(lsn));
}

}  // namespace snowid::pg
