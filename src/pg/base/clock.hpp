// The wall clock. Nothing is shared; the clock may be set back or forward at any time.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Unlike GetCurrentTimestamp this counts from 1970, as the ceiling and the layouts do.
inline core::UnixMicros unix_now() {
  timeval now;
  gettimeofday(&now, nullptr);
  return {int64{now.tv_sec} * 1000000 + now.tv_usec};
}

// Microseconds that have passed since a moment, by a clock that cannot be set.
inline int64 ElapsedUs(instr_time since) {
  instr_time now;
  INSTR_TIME_SET_CURRENT(now);
  INSTR_TIME_SUBTRACT(now, since);
  return static_cast<int64>(INSTR_TIME_GET_MICROSEC(now));
}

// Whether less than `for_us` has passed since a moment. It may be up to a second ahead: another
// session has noted it, which has read the clock later. False where it is ahead by more, since the
// clock was set back then, so that nobody waits longer for it.
constexpr bool IsRecent(core::UnixMicros since, int64 for_us, core::UnixMicros now) {
  const int64 passed_us = now.value - since.value;
  return passed_us > -USECS_PER_SEC && passed_us < for_us;
}

// Microseconds between the epochs of Unix and of PostgreSQL, 2000-01-01.
inline constexpr int64 kPostgresEpochUs =
    int64{POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE} * SECS_PER_DAY * USECS_PER_SEC;

// A timestamptz in Unix microseconds. -infinity is the least int64; infinity, and the last years of
// timestamptz, which do not fit into Unix microseconds, are the greatest.
inline core::UnixMicros from_timestamptz(TimestampTz moment) {
  int64 unix_us;
  if (TIMESTAMP_NOT_FINITE(moment)) return {moment};
  if (pg_add_s64_overflow(moment, kPostgresEpochUs, &unix_us)) return {PG_INT64_MAX};
  return {unix_us};
}

// A moment as a timestamptz. It must be in the range of timestamptz.
inline TimestampTz to_timestamptz(core::UnixMicros moment) {
  return moment.value - kPostgresEpochUs;
}

// A moment as errors show it, in the current memory context.
inline const char* moment_text(core::UnixMicros moment) {
  // timestamptz_to_str has one buffer, and a message may need two times.
  return pstrdup(timestamptz_to_str(to_timestamptz(moment)));
}

// A span of time as errors show it, rounded up: milliseconds up to a minute, above that an interval
// such as "2 days 03:04:05". Requires 0 or more; in the current memory context.
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

}  // namespace snowid::pg
