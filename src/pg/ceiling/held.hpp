// The ceiling's sequence, opened and locked together with the ceiling that it holds.
//
// Shared: a session takes first the relation's lock, which it may have to wait for, then
// Ceiling::lock, then the buffer's.
#pragma once

#include "pg/ceiling/state.hpp"
#include "pg/sequence_page.hpp"

namespace snowid::pg {

inline constexpr char kCeilingName[] = "ceiling";

// The sequence that this session uses, InvalidOid before it has looked.
extern Oid ceiling_relid;

// The ceiling, locked, and what the holder of the lock knows.
struct HeldCeiling {
  Relation relation;  // nullptr where the lock is not held
  Ceiling* ceiling;   // its lock is held, exclusively
  // What counts at most of what the sequence's own page says, which others can set.
  core::UnixMillis most;

  bool is_stand_in() const noexcept { return ceiling != shared_ceiling; }
};

// Fails with 25006 during recovery. A standby's transactions are read-only, but some extensions
// make them appear writable.
void require_no_recovery();

// Opens the sequence in RowExclusiveLock. With kEarly it returns nullptr where it would have to
// wait for the lock. Fails with 55000 where it is missing, or not a permanent sequence.
Relation open_ceiling(Urgency urgency);

// Whether this transaction has made the sequence, so that no other session sees it, and none will
// if it rolls back.
inline bool is_made_here(Relation relation) {
  return relation->rd_createSubid != InvalidSubTransactionId;
}

// Opens the sequence and takes the lock of the ceiling that this session goes by. Returns nullptr
// as open_ceiling() does, with no lock taken. ceiling_learn() must have been called. Fails as
// open_ceiling() and require_no_recovery() do.
HeldCeiling lock_ceiling(Urgency urgency);

// The same with a sequence that is open.
HeldCeiling lock_ceiling_in(Relation relation);

// Releases both locks, and logs a slow flush.
void unlock_ceiling(const HeldCeiling& held);

// Whether the sequence, with its storage, is the one that the ceiling in memory is durable in.
bool is_durable_in(const HeldCeiling& held);

}  // namespace snowid::pg
