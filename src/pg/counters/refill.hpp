// The right to refill: to allocate blocks of a sequence, or to raise a section's limit. One process
// has it at a time.
//
// Shared: `holder` is taken by compare-and-swap. A process that finds it taken sleeps on
// `released`. It is not a lock of PostgreSQL's lock manager, for two reasons: in pg_locks a lock on
// a sequence would look like DDL; and if several backends serve one distributed transaction, a
// detector of distributed deadlocks would assume that they block each other for good. There can be
// no deadlock, because the process that has the right waits for nothing that another transaction
// holds until its end. Code that refills must keep to that.
#pragma once

#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

struct RefillRight {
  std::atomic<int32_t> holder;  // its process id, 0 where nobody has it
  ConditionVariable released;
};

// Initializes a right, so that nobody has it.
void init_refill_right(RefillRight* right) noexcept;

inline bool is_being_refilled(const RefillRight& right) noexcept {
  return right.holder.load() != 0;
}

// Whether this process has the right, which no other one can change.
inline bool is_mine(const RefillRight& right) noexcept { return right.holder.load() == MyProcPid; }

// Takes the right. Returns false where another process has it. A process has one at a time; it
// fails with XX000 where this one has any. The right is held until end_refill(), which callbacks
// call when the transaction ends, the subtransaction that took it fails, or the process exits.
bool refill_begin(RefillRight* right);

// Waits until the right is given back; it may be taken again at once. Interruptible.
void refill_wait(RefillRight* right);

// Gives back the right that this process has, if it has one, and wakes the processes that wait for
// it.
void end_refill() noexcept;

// The same, to be called where a subtransaction fails: only if the right was taken in it, or in one
// within it.
void end_refill_in_subtransaction() noexcept;

}  // namespace snowid::pg
