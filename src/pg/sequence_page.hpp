// The page of a sequence. Changing it makes numbers durable.
//
// Shared: the page, in a buffer guarded by its content lock. Changes use the generic WAL API, need
// no transaction ID, survive a rollback, and are durable after sequence_make_durable().
#pragma once

#include "pg/postgres.hpp"

#include "core/known.hpp"
#include "pg/compat.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "storage/bufmgr.h"
}

namespace snowid::pg {

// Whether the caller must have the result (kMust), or can continue without it (kEarly).
enum class Urgency : uint8_t { kEarly, kMust };

using core::SequenceValue;
static_assert(InvalidXLogRecPtr == 0);

// A sequence's page, pinned and locked. Until it is unlocked, only the functions below may raise
// errors; lock and pin are then released by the end of the failed transaction.
struct SequencePage {
  Relation relation;
  Buffer buffer;
};

// Pins and exclusively locks the page of a sequence; and the reverse.
SequencePage sequence_page_lock(Relation relation);
void sequence_page_unlock(const SequencePage& page);

// The same by the sequence's row of pg_class. Requires: the page is only read.
SequencePage sequence_page_lock_of(Form_pg_class form);

// Reads a pinned page, also without its lock, which another session may hold to change it.
SequenceValue sequence_page_value(Buffer buffer) noexcept;

// Locks the page for this.
SequenceValue sequence_value(Relation relation);

// Stores a value in the page, and a mark if changes are not logged, as a part of the caller's
// change. Its record ends at InvalidXLogRecPtr if there is none to wait for (unlogged, or synced by
// the commit).
void sequence_page_store(const SequencePage& page, GenericXLogState* change, int64 last,
                         bool is_called);

// The second page, after a sequence's own, is unknown to setval, dumps, and replication. Scans find
// no row on it: its special space holds state of snowid, and begins with a version.

// Creates the second page, empty, if there is none. Requires: no page and no LWLock is locked.
void second_page_extend(Relation relation);

// Pins and locks the second page; returns InvalidBuffer, which the other functions accept, if there
// is none. mode: BUFFER_LOCK_SHARE or BUFFER_LOCK_EXCLUSIVE.
Buffer second_page_lock(Relation relation, BufferLockMode mode);
void second_page_unlock(Buffer buffer);

// The special space, or nullptr if it was never stored. Raises: 0A000 if it has another version.
const void* second_page_read(Relation relation, Buffer buffer, uint32 version);

// The special space, of `size` bytes, to be stored as a part of the caller's change.
void* second_page_change(GenericXLogState* change, Buffer buffer, Size size);

// Whether the WAL up to `lsn` is flushed on this server and on synchronous standbys.
bool sequence_is_durable(XLogRecPtr lsn);

// Waits until it is, whatever the session's synchronous_commit, because other sessions rely on it.
// Requires: no LWLock is held. Raises: 57014 if the wait is canceled; publish nothing then.
void sequence_make_durable(XLogRecPtr lsn);

// Raises: 42P01 if there is no such relation; 42809 if it is no sequence, or the extension's own.
void require_sequence(Oid relid);

// Raises: the same; 42501 if the user does not own the sequence.
void require_own_sequence(Oid relid);

struct SequenceOptions {
  int64 increment;
  int64 max;
};

// Raises: 55000 if the sequence cycles, because numbers would repeat, or counts down.
SequenceOptions sequence_options(Oid relid);

}  // namespace snowid::pg
