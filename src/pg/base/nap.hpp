// Sleeping on the latch, for those whom nobody wakes: they look again and again. Nothing is shared.
#pragma once

#include "pg/base/locks.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Sleeps for so long, or until the latch is set, and then checks for interrupts. No LWLock may be
// held.
inline void nap(long timeout_ms, uint32 wait_event) {
  AssertHoldsNone();
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, timeout_ms, wait_event);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

// The nap after one of `nap_ms`, where what is waited for takes a moment mostly: twice as long, up
// to 10 ms.
constexpr long NextNap(long nap_ms) { return std::min(2 * nap_ms, 10L); }

}  // namespace snowid::pg
