// Telling the log of what may happen often: once in log_every seconds, whatever the session.
// Nothing is shared here but the atomic that the caller gives.
#pragma once

#include "pg/base/clock.hpp"
#include "pg/base/debug.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// How often the log is told of what is alike: of a kind of event in a database, of the refills of a
// sequence, of a source's failures. In seconds.
SNOWID_BOUND(log_every, 60);

inline int64 LogEveryUs() { return log_every * USECS_PER_SEC; }

// The log is told of waits, for the clock or the disk, that are longer than this.
inline constexpr int64 kLongWaitUs = USECS_PER_SEC;

// Whether the log is to be told now. logged_us: when it last was, 0 where never; by a clock that
// nobody can set.
inline bool MayLog(std::atomic<int64_t>* logged_us) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  const int64 now_us = static_cast<int64>(INSTR_TIME_GET_MICROSEC(now));
  int64_t last = logged_us->load(std::memory_order_relaxed);
  return (last == 0 || now_us - last >= LogEveryUs()) &&
         logged_us->compare_exchange_strong(last, now_us, std::memory_order_relaxed);
}

// Milliseconds, rounded up, as the log is told of them.
constexpr int64 ToMillis(int64 us) { return (us + 999) / 1000; }

}  // namespace snowid::pg
