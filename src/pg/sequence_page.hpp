// The page of a sequence. Changing it makes numbers durable.
//
// Shared: the page is in a buffer, guarded by the buffer's content lock. It is changed by the
// generic WAL API, which needs no transaction ID. As with nextval, the change stays when the
// transaction rolls back. It is durable only after sequence_make_durable().
#pragma once

#include "pg/postgres.hpp"

#include "core/known.hpp"

extern "C" {
#include "access/generic_xlog.h"
}

namespace snowid::pg {

// Whether the caller needs what it asks for (kMust), or can go on without it (kEarly).
enum class Urgency : uint8_t { kEarly, kMust };

using core::SequenceValue;
static_assert(InvalidXLogRecPtr == 0);

// A sequence's page, pinned and locked. Until it is unlocked only the functions below may raise an
// error; the lock and the pin then go with the transaction or subtransaction that fails.
struct SequencePage {
  Relation relation;
  Buffer buffer;
};

// Pins the page of a relation that is a sequence, and locks it in exclusive mode; and the reverse.
SequencePage sequence_page_lock(Relation relation);
void sequence_page_unlock(const SequencePage& page);

// The same of a sequence by its row of pg_class, only to read the page.
SequencePage sequence_page_lock_of(Form_pg_class form);

SequenceValue sequence_page_value(const SequencePage& page) noexcept;

// The last value of a relation that is a sequence, read under its lock.
int64 sequence_last(Relation relation);

// Stores a value in the page, and a mark if the change is not logged. Returns the end of the WAL
// record, or InvalidXLogRecPtr if there is none to wait for: the relation is unlogged, or its file
// is synced at commit.
XLogRecPtr sequence_page_set(const SequencePage& page, int64 last, bool is_called = true);

// The same as part of a change that the caller has begun, and finishes.
void sequence_page_store(const SequencePage& page, GenericXLogState* change, int64 last,
                         bool is_called);

// The block behind a sequence's own page: a page that is snowid's alone. setval, dumps and the
// replication of sequences do not know it. What it holds lies in its special space, and begins with
// a version.
inline constexpr BlockNumber kSecondBlock = 1;

// Makes the second page, empty, if there is none. No page and no LWLock may be locked.
void second_page_extend(Relation relation);

// Reads the value of a page that is pinned, without its lock: another session may be changing it.
SequenceValue peek_at_sequence(Buffer buffer) noexcept;

// Whether the WAL up to `lsn` is on disk, here and on the synchronous standbys.
bool sequence_is_durable(XLogRecPtr lsn);

// Waits until it is. It waits for synchronous standbys even if the session's synchronous_commit
// does not, since other sessions rely on the value published then. Requires: no LWLock is held.
// Raises: 57014 if the wait is cancelled; then nothing may be published.
void sequence_make_durable(XLogRecPtr lsn);

// Raises: 42P01 if there is no such relation, 42809 if it is not a sequence, or is one that the
// extension keeps its own state in, such as the ceiling.
void require_sequence(Oid relid);

// The same, and raises 42501 if the user does not own the sequence.
void require_own_sequence(Oid relid);

// The options of a sequence that snowid uses.
struct SequenceOptions {
  int64 increment;
  int64 max;
};

// Raises: 55000 if the sequence cycles, since numbers would repeat, or counts down.
SequenceOptions sequence_options(Oid relid);

}  // namespace snowid::pg
