// The lock of who refills: allocates blocks of a sequence, or raises a section's limit. One process
// has it at a time.
//
// Shared: `holder` is taken by compare-and-swap, and who finds it taken sleeps on `released`. It is
// none of PostgreSQL's lock manager: a lock on a sequence reads like DDL in pg_locks, and where
// several backends serve one distributed transaction, a detector of distributed deadlocks takes
// them to block each other for good. Nor can there be a deadlock: who has it waits for
// nothing that another transaction holds until its end, so no other lock is to be waited for with
// it.
#pragma once

#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

struct RefillLock {
  std::atomic<int32_t> holder;  // its process id, 0 where nobody has it
  ConditionVariable released;
};

// Makes a lock that nobody has.
void InitRefillLock(RefillLock* lock);

inline bool IsBeingRefilled(const RefillLock& lock) { return lock.holder.load() != 0; }

// Takes the lock. Returns false where another has it. A process has one at a time. It ends with
// EndRefill(), or with the transaction or subtransaction that has taken it, if that fails.
bool refill_begin(RefillLock* lock);

// Waits until whoever has the lock ends it. Interruptible.
void refill_wait(RefillLock* lock);

// Ends the lock that this process has, if there is one, and wakes those who wait.
void EndRefill();

// The same where a subtransaction fails: if the lock was taken in it, or in one within it.
void EndRefillInSubtransaction();

}  // namespace snowid::pg
