// The right to refill: to allocate blocks of a sequence, or to raise a section's limit. One process
// has it at a time.
//
// Shared: `holder` is taken by compare-and-swap, and who finds it taken sleeps on `released`. It is
// no lock of PostgreSQL's lock manager: a lock on a sequence reads like DDL in pg_locks, and where
// several backends serve one distributed transaction, a detector of distributed deadlocks takes
// them to block each other for good. Nor can there be a deadlock: who has it waits for
// nothing that another transaction holds until its end, so no other lock is to be waited for with
// it.
#pragma once

#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

struct RefillRight {
  std::atomic<int32_t> holder;  // its process id, 0 where nobody has it
  ConditionVariable released;
};

// Makes a right that nobody has.
void InitRefillRight(RefillRight* right);

inline bool IsBeingRefilled(const RefillRight& right) { return right.holder.load() != 0; }

// Takes the right. Returns false where another has it. A process has one at a time. It ends with
// EndRefill(), or with the transaction or subtransaction that has taken it, if that fails.
bool refill_begin(RefillRight* right);

// Waits until whoever has the right ends it. Interruptible.
void refill_wait(RefillRight* right);

// Ends the right that this process has, if there is one, and wakes those who wait.
void EndRefill();

// The same where a subtransaction fails: if the right was taken in it, or in one within it.
void EndRefillInSubtransaction();

}  // namespace snowid::pg
