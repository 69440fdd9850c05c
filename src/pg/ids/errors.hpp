// The errors of issuing IDs. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// 2200H: the layout has no IDs left.
[[noreturn]] void report_used_up(const core::Layout& layout);

// The ID that a caller cannot wait for.
struct NextId {
  const core::Layout& layout;
  core::Shard shard;
  bool has_shard;  // false for the kinds of ID that know none
  core::UnixMicros time;
};

// The clock is too far behind: another try, later, helps. An SQLSTATE of snowid's own, so that
// clients can distinguish it from errors that waiting does not help with. By the SQL standard,
// classes that begin with 5 to 9 or I to Z are left to implementations; PostgreSQL's own begin with
// 5, F, H, P and X, so one that begins with S is neither the standard's nor likely to become
// PostgreSQL's.
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'N', '0', '0', '1');

// How far the clock is behind, a sentence for the log.
const char* behind_text(int64 behind_us);

// kClockBehind: the clock is `behind_us` behind the next ID's time, more than the caller may wait
// for.
[[noreturn]] void report_clock_behind(const NextId& next, int64 behind_us);

// kClockBehind: an ID or a moment that a caller wants IDs to be above is `ahead_us` ahead of the
// clock. what: "ID" or "moment". wait_ms: how long the caller may wait, 0 where it does not wait.
[[noreturn]] void report_ahead(const char* what, int64 ahead_us, int wait_ms);

}  // namespace snowid::pg
