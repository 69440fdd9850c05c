// Sleeping on the latch, for loops that poll because no other process wakes this one. Nothing is
// shared.
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

// The length of the nap after one of `nap_ms`: twice as long, up to 10 ms, since most waits are
// short.
constexpr long NextNap(long nap_ms) { return std::min(2 * nap_ms, 10L); }

}  // namespace snowid::pg
