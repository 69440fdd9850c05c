// A counter as a session sees it: an ordinary sequence whose numbers are issued from shared memory,
// as a segment (sequence_cache.cpp) or as a section (keyed_counter.cpp).
//
// Called in this order: counter_open() and counter_is_as_known() for each number; with the right to
// refill counter_page_lock(), counter_change() and counter_page_unlock(), then
// sequence_make_durable() (sequence_page.hpp) and counter_settle().
//
// Shared: the sequence. As nextval does, a session locks it in RowExclusiveLock once in a
// transaction, until its end: the sequence can be neither dropped nor altered while a transaction
// with numbers from it is open, and the next call sees the new state. setval takes the same lock
// without waiting; therefore each call looks at the sequence's page. Only the session with the
// right to refill (counter_state.hpp) changes the page.
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

// Belongs to one process. Made at the first use of the sequence in the session; never freed.
struct Counter {
  Oid relid;
  LocalTransactionId locked_in;  // the last transaction in which this session locked it
  bool is_looked_at;             // whether `file` is valid: no invalidation of the sequence since
  bool is_pinned;                // whether this transaction has its page pinned
  FileLocator file;
  Buffer buffer;  // the last buffer of its page, or InvalidBuffer
  // Shared entries, with this session counted as a user; nullptr if not used as such.
  SharedSegment* segment;
  SharedSection* section;
};

// Opens a sequence's counter, and locks the sequence for this transaction. rights: the user needs
// one of them. Raises: 42P01 if there is no such relation; 42809 if it is not a sequence, or one of
// snowid's own; 0A000 if it is temporary; 42501 if the user has none of the rights.
Counter* counter_open(Oid relid, AclMode rights);

// Whether the sequence is unchanged since its numbers in memory were allocated, by its page, read
// without a lock. Requires: the counter is open in this transaction.
bool counter_is_as_known(Counter* counter, const core::Known& known);

// Raises: 2200H, as nextval does.
[[noreturn]] void counter_report_exhausted(Oid relid, int64 max);

// As sequence_page_lock() and its reverse, for the counter's sequence.
SequencePage counter_page_lock(const Counter* counter);
void counter_page_unlock(const SequencePage& page);

// Sets the locked page's last value to `last`, or the next value if is_called is false; and *known
// to match. Until counter_settle() the numbers already in memory stay as valid as they were.
// Returns the end of the WAL record, see sequence_page_store(). Requires: the right to refill.
XLogRecPtr counter_change(const SequencePage& page, const Counter* counter, core::Known* known,
                          int64 last, bool is_called = true);

// Makes the numbers in memory valid. Requires: the change is durable and the numbers are in memory.
void counter_settle(const Counter* counter, core::Known* known);

void at_eoxact_counters(XactEvent event);
void at_eosubxact_counters(SubXactEvent event);
void at_exit_counters();
void on_relcache_counters(Oid relid);

}  // namespace snowid::pg
