// Limits on logging what may happen often: once in log_every seconds, for all sessions together.
// Nothing is shared here but the atomic that the caller gives.
#pragma once

#include "pg/base/clock.hpp"
#include "pg/base/debug.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// The seconds between two messages of one kind: on a kind of event in a database, on the refills of
// a sequence, on a source's failures.
SNOWID_BOUND(log_every, 60);

inline int64 LogEveryUs() { return log_every * USECS_PER_SEC; }

// Waits, for the clock or the disk, that are longer than this are logged.
inline constexpr int64 kLongWaitUs = USECS_PER_SEC;

// Whether to log now; if so, it counts as logged. logged_us: when that was last done, by a clock
// that cannot be set; 0 for never.
inline bool MayLog(std::atomic<int64_t>* logged_us) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  const int64 now_us = static_cast<int64>(INSTR_TIME_GET_MICROSEC(now));
  int64_t last = logged_us->load(std::memory_order_relaxed);
  return (last == 0 || now_us - last >= LogEveryUs()) &&
         logged_us->compare_exchange_strong(last, now_us, std::memory_order_relaxed);
}

// Milliseconds, rounded up, as log messages have them.
constexpr int64 ToMillis(int64 us) { return (us + 999) / 1000; }

}  // namespace snowid::pg
