// The errors that more than one room reports, so that each is worded once.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Reports what src/core answered with for a time or an ID: 22008 for a time, 22023 for an ID.
[[noreturn]] void report_status(const core::Layout& layout, core::Status status);

// 22023.
[[noreturn]] void report_shard_out_of_range(const core::Layout& layout, int64 shard);
[[noreturn]] void report_sequence_out_of_range(const core::Layout& layout, int64 sequence);

// 2200H: the layout has no IDs left.
[[noreturn]] void report_used_up(const core::Layout& layout);

// Tells the log that it will have none left within a year.
void warn_of_end(const core::Layout& layout);

// What a caller waits for in vain.
struct NextId {
  const core::Layout& layout;
  core::Shard shard;
  bool has_shard;  // false for the kinds of ID that know none
  core::UnixMicros time;
};

// The clock is too far behind: another try, later, helps. An SQLSTATE of snowid's own, so that
// clients can tell this from what no waiting helps with. By the SQL standard, classes that begin
// with 5 to 9 or I to Z are left to implementations; PostgreSQL's own begin with 5, F, H, P and X,
// so one that begins with S is neither the standard's nor likely to become PostgreSQL's.
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'N', '0', '0', '1');

// kClockBehind: the clock is `behind_us` behind the next ID's time, more than the caller may wait
// for.
[[noreturn]] void report_clock_behind(const NextId& next, int64 behind_us);

// 22023 where fewer than `least` or more than `most` numbers are asked for.
void require_count(int32 count, int64 least, int64 most);

// 25006, in a read-only transaction, which every one is during recovery, unless somebody has it
// pass for another.
[[noreturn]] void report_read_only(const char* function);

// What nextval demands too: IDs change the server's state. `function` is named in the error.
inline void require_read_write(const char* function) {
  if (unlikely(XactReadOnly)) report_read_only(function);
}

// What nextval demands as well: that this is no parallel query. Nor is it a standby where a
// transaction passes for one that may write; what IDs need for that is in ceiling_learn().
inline void require_nextval(const char* function) {
  require_read_write(function);
  PreventCommandDuringRecovery(function);
  PreventCommandIfParallelMode(function);
}

}  // namespace snowid::pg
