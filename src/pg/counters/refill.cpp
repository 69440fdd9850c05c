// The right to refill. See refill.hpp.
#include "pg/counters/refill.hpp"

#include "pg/debug.hpp"

namespace snowid::pg {

namespace {

// The right that this process has, nullptr where it has none, and the nesting level of the
// subtransaction that took it. A refill tries things in subtransactions of its own, whose failure
// must not end the right.
RefillRight* held = nullptr;
int held_level = 0;

}  // namespace

void init_refill_right(RefillRight* right) noexcept {
  right->holder.store(0);
  ConditionVariableInit(&right->released);
}

bool refill_begin(RefillRight* right) {
  if (held != nullptr) elog(ERROR, "refill within a refill");
  int32_t holder = 0;
  if (!right->holder.compare_exchange_strong(holder, MyProcPid)) return false;
  held = right;
  held_level = GetCurrentTransactionNestLevel();
  return true;
}

void refill_wait(RefillRight* right) {
  // Nor may it have a right itself.
  Assert(held == nullptr);
  assert_holds_none();
  ConditionVariablePrepareToSleep(&right->released);
  if (is_being_refilled(*right)) ConditionVariableSleep(&right->released, refill_wait_event());
  ConditionVariableCancelSleep();
}

void end_refill() noexcept {
  if (held == nullptr) return;
  Assert(is_mine(*held));
  held->holder.store(0);
  ConditionVariableBroadcast(&held->released);
  held = nullptr;
}

void end_refill_in_subtransaction() noexcept {
  if (GetCurrentTransactionNestLevel() <= held_level) end_refill();
}

}  // namespace snowid::pg
