// The page of a sequence: what makes numbers durable.
//
// Shared: the page is a buffer like any other, guarded by its content lock. It is changed under the
// generic WAL API, which takes no transaction id: like nextval's the change stays when the
// transaction rolls back, but what was changed is durable only after sequence_make_durable().
#pragma once

#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Whether the caller can go on without what it asks for.
enum class Urgency : uint8_t { kEarly, kMust };

// What nextval goes on from: the last value, or, where nothing has been called, the next. And what
// tells whether others have changed the page since sequence_page_set(): where in the WAL it was
// last changed, for whoever changes it logs that; or, where nothing is logged, the mark that was
// left.
struct SequenceValue {
  int64 last;
  bool is_called;
  XLogRecPtr lsn;
  int64 log_cnt;
};

// A sequence's page, locked. No error may be raised before it is unlocked, except by the functions
// below, which end it.
struct SequencePage {
  Relation relation;
  Buffer buffer;
};

// Locks the page of a relation that is a sequence, in exclusive mode.
SequencePage sequence_page_lock(Relation relation);
void sequence_page_unlock(const SequencePage& page);

SequenceValue SequencePageValue(const SequencePage& page);

// Has the sequence hold this value, and leaves a mark where the change is not logged. Returns the
// end of the WAL record, or InvalidXLogRecPtr where there is none to wait for: the relation is
// unlogged, or its file is synced at commit.
XLogRecPtr sequence_page_set(const SequencePage& page, int64 last, bool is_called = true);

// Reads the value without the lock. It may be one that is just being changed.
SequenceValue PeekAtSequence(Buffer buffer);

// Whether everything up to `lsn` is on disk, here and on the synchronous standbys.
bool sequence_is_durable(XLogRecPtr lsn);

// Waits until it is, whatever the session has set for its own commits: others go by what it then
// publishes. Where it is cancelled it fails, and nothing may be published. No LWLock may be held.
void sequence_make_durable(XLogRecPtr lsn);

}  // namespace snowid::pg
