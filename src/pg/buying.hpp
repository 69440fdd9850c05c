// The right to buy blocks of a sequence, which one process has at a time.
//
// Shared: `holder` is taken by compare-and-swap, and who finds it taken sleeps on `released`. It is
// no lock of PostgreSQL's lock manager: a lock on a sequence reads like DDL in pg_locks, and where
// several backends serve one distributed transaction, a detector of distributed deadlocks takes
// them to block each other for good. Nor can there be a deadlock: who has the right waits for
// nothing that another transaction holds until its end, so no other lock is to be waited for with
// it.
#pragma once

#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

struct BuyingRight {
  std::atomic<int32_t> holder;  // its process id, 0 where nobody has it
  ConditionVariable released;
};

// Makes a right that nobody has.
void InitBuyingRight(BuyingRight* right);

inline bool HasBuyer(const BuyingRight& right) { return right.holder.load() != 0; }

// Takes the right. Returns false where another has it. A process has one right at a time. It ends
// with EndBuying(), or with the transaction or subtransaction that has taken it, if that fails.
bool buying_begin(BuyingRight* right);

// Waits until whoever has the right ends it. Interruptible.
void buying_wait(BuyingRight* right);

// Ends the right that this process has, if there is one, and wakes those who wait.
void EndBuying();

// The same where a subtransaction fails: if the right was taken in it, or in one within it.
void EndBuyingInSubtransaction();

}  // namespace snowid::pg
