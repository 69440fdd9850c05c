// The lock of who refills. See refill.hpp.
#include "pg/counters/refill.hpp"

namespace snowid::pg {

namespace {

// The lock that this process has, nullptr where it has none, and how deep in subtransactions it was
// taken: those that a refill begins itself end before it does.
RefillLock* held = nullptr;
int held_level = 0;

}  // namespace

void InitRefillLock(RefillLock* lock) {
  lock->holder.store(0);
  ConditionVariableInit(&lock->released);
}

bool refill_begin(RefillLock* lock) {
  if (held != nullptr) elog(ERROR, "refill within a refill");
  int32_t holder = 0;
  if (!lock->holder.compare_exchange_strong(holder, MyProcPid)) return false;
  held = lock;
  held_level = GetCurrentTransactionNestLevel();
  return true;
}

void refill_wait(RefillLock* lock) {
  ConditionVariablePrepareToSleep(&lock->released);
  if (IsBeingRefilled(*lock)) ConditionVariableSleep(&lock->released, refill_wait_event());
  ConditionVariableCancelSleep();
}

void EndRefill() {
  if (held == nullptr) return;
  held->holder.store(0);
  ConditionVariableBroadcast(&held->released);
  held = nullptr;
}

void EndRefillInSubtransaction() {
  if (GetCurrentTransactionNestLevel() <= held_level) EndRefill();
}

}  // namespace snowid::pg
