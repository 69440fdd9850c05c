// Errors that more than one room reports, so that each is worded once. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Reports what src/core answered with for a time or an ID: 22008 for a time, 22023 for an ID.
[[noreturn]] void report_status(const core::Layout& layout, core::Status status);

// 22023.
[[noreturn]] void report_shard_out_of_range(const core::Layout& layout, int64 shard);
[[noreturn]] void report_sequence_out_of_range(const core::Layout& layout, int64 sequence);

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
// transaction passes for one that may write.
inline void require_nextval(const char* function) {
  require_read_write(function);
  PreventCommandDuringRecovery(function);
  PreventCommandIfParallelMode(function);
}

}  // namespace snowid::pg
