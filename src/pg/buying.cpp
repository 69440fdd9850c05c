// The right to buy. See buying.hpp.
#include "pg/buying.hpp"

namespace snowid::pg {

namespace {

// The right that this process has, nullptr where it has none, and how deep in subtransactions it
// was taken: those that a purchase begins itself end before it does.
BuyingRight* held = nullptr;
int held_level = 0;

}  // namespace

void InitBuyingRight(BuyingRight* right) {
  right->holder.store(0);
  ConditionVariableInit(&right->released);
}

bool buying_begin(BuyingRight* right) {
  if (held != nullptr) elog(ERROR, "purchase within a purchase");
  int32_t holder = 0;
  if (!right->holder.compare_exchange_strong(holder, MyProcPid)) return false;
  held = right;
  held_level = GetCurrentTransactionNestLevel();
  return true;
}

void buying_wait(BuyingRight* right) {
  ConditionVariablePrepareToSleep(&right->released);
  if (HasBuyer(*right)) ConditionVariableSleep(&right->released, buying_wait_event());
  ConditionVariableCancelSleep();
}

void EndBuying() {
  if (held == nullptr) return;
  held->holder.store(0);
  ConditionVariableBroadcast(&held->released);
  held = nullptr;
}

void EndBuyingInSubtransaction() {
  if (GetCurrentTransactionNestLevel() <= held_level) EndBuying();
}

}  // namespace snowid::pg
