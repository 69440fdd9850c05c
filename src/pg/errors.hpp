// The errors that more than one room reports, so that each is worded once.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Reports what src/core answered with for a time, a sequence or an ID: 22008 for a time, 22023 for
// the others.
[[noreturn]] void report_status(const core::Layout& layout, core::Status status);

// 22023.
[[noreturn]] void report_shard_out_of_range(const core::Layout& layout, int32 shard);

// 22023: a part of an ID that no SQL int holds. `part` is its name.
[[noreturn]] void report_part_too_great(const core::Layout& layout, const char* part,
                                        uint64 number);

// The shard of an ID as an SQL int. Fails with 22023 where it is none.
inline int32 shard_of(const core::Layout& layout, const core::Parts& parts) {
  if (unlikely(parts.shard.value > PG_INT32_MAX))
    report_part_too_great(layout, "shard", parts.shard.value);
  return static_cast<int32>(parts.shard.value);
}

// 2200H: the layout has no IDs left.
[[noreturn]] void report_used_up(const core::Layout& layout);

// A warning that it will have none left within a year.
void warn_of_end(const core::Layout& layout);

// 55000: the clock is `behind_us` behind the next ID's time, more than the caller may wait for.
[[noreturn]] void report_clock_behind(const core::Layout& layout, core::Shard shard,
                                      core::UnixMicros next, int64 behind_us);

// 25006, in a read-only transaction, which every one is during recovery.
[[noreturn]] void report_read_only(const char* function);

// What nextval demands too: IDs change the server's state. `function` is named in the error.
inline void require_read_write(const char* function) {
  if (unlikely(XactReadOnly)) report_read_only(function);
}

}  // namespace snowid::pg
