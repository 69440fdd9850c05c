// The clock, sleeping, and a rate limit for log messages, which all sessions share.
#pragma once

#include "pg/postgres.hpp"

#include <sys/time.h>

#include "core/types.hpp"
#include "pg/debug.hpp"

extern "C" {
#include "portability/instr_time.h"
#include "storage/latch.h"
#include "utils/timestamp.h"
}

namespace snowid::pg {

// snowid.max_lead, 0 to INT_MAX: how far IDs may run ahead of the clock. Defined in ids/next.cpp.
extern int max_lead_ms;
inline int64 max_lead_us() noexcept { return int64{max_lead_ms} * 1000; }

// Counts from 1970, unlike GetCurrentTimestamp().
inline core::UnixMicros unix_now() noexcept {
  timeval now;
  gettimeofday(&now, nullptr);
  return {int64{now.tv_sec} * 1000000 + now.tv_usec};
}

// Microseconds since a moment of the monotonic clock.
inline int64 elapsed_us(instr_time since) noexcept {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  INSTR_TIME_SUBTRACT(now, since);
  return static_cast<int64>(INSTR_TIME_GET_MICROSEC(now));
}

// Whether less than `for_us` has passed since a moment, which another session may have read up to 1
// s later. If it is even later, the clock moved backward, and no caller may wait for it.
constexpr bool is_recent(core::UnixMicros since, int64 for_us, core::UnixMicros now) noexcept {
  const int64 passed_us = now.value - since.value;
  return passed_us > -USECS_PER_SEC && passed_us < for_us;
}

inline constexpr int64 kPostgresEpochUs =
    int64{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * SECS_PER_DAY * USECS_PER_SEC;

// -infinity is the least int64. infinity, and the last years of timestamptz, are the greatest.
inline core::UnixMicros from_timestamptz(TimestampTz moment) noexcept {
  int64 unix_us;
  if (TIMESTAMP_NOT_FINITE(moment)) return {moment};
  if (__builtin_add_overflow(moment, kPostgresEpochUs, &unix_us)) return {PG_INT64_MAX};
  return {unix_us};
}

// Requires: `moment` is in the range of timestamptz.
inline TimestampTz to_timestamptz(core::UnixMicros moment) noexcept {
  return moment.value - kPostgresEpochUs;
}

// In the current memory context.
inline const char* moment_text(core::UnixMicros moment) {
  // timestamptz_to_str() has one buffer, and a message may contain two times.
  return pstrdup(timestamptz_to_str(to_timestamptz(moment)));
}

// Rounded up: milliseconds up to a minute, above that an interval such as "2 days 03:04:05". In the
// current memory context. Requires: span_us >= 0.
inline const char* span_text(int64 span_us) {
  if (span_us <= SECS_PER_MINUTE * USECS_PER_SEC)
    return psprintf(INT64_FORMAT " ms", (span_us + 999) / 1000);
  const int64 seconds = span_us / USECS_PER_SEC + (span_us % USECS_PER_SEC > 0);
  const int64 days = seconds / SECS_PER_DAY;
  const auto rest = static_cast<int>(seconds % SECS_PER_DAY);
  const char* time = psprintf("%02d:%02d:%02d", rest / SECS_PER_HOUR,
                              rest % SECS_PER_HOUR / SECS_PER_MINUTE, rest % SECS_PER_MINUTE);
  if (days == 0) return time;
  return psprintf(INT64_FORMAT " day%s %s", days, days == 1 ? "" : "s", time);
}

// Sleeps until timeout or latch, and checks for interrupts. Requires: no LWLock is held.
inline void nap(long timeout_ms, uint32 wait_event) {
  assert_holds_none();
  WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, timeout_ms, wait_event);
  ResetLatch(MyLatch);
  CHECK_FOR_INTERRUPTS();
}

// Doubled up to 10 ms, because most waits are short.
constexpr long next_nap(long nap_ms) noexcept { return std::min(2 * nap_ms, 10L); }

// Seconds between two log messages of one kind.
SNOWID_BOUND(log_every, 60);

inline int64 log_every_us() noexcept { return log_every * USECS_PER_SEC; }

// Longer waits for the clock or the disk are logged.
inline constexpr int64 kLongWaitUs = USECS_PER_SEC;

// Whether to log, which is recorded. logged_us: monotonic time of the last message, 0 for never.
inline bool may_log(std::atomic<int64_t>* logged_us, int64 every_us = log_every_us()) noexcept {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  const int64 now_us = static_cast<int64>(INSTR_TIME_GET_MICROSEC(now));
  int64_t last = logged_us->load(std::memory_order_relaxed);
  return (last == 0 || now_us - last >= every_us) &&
         logged_us->compare_exchange_strong(last, now_us, std::memory_order_relaxed);
}

}  // namespace snowid::pg
