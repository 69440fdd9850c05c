// Errors raised by more than one module, each worded once.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

// Raises: 22008 for kTimeOutOfRange; 22023 for kNegativeId, kIdOutOfRange, kShardOutOfRange, and
// kSequenceOutOfRange. number: the shard or sequence.
[[noreturn]] void report_status(const core::Layout& layout, core::Status status, int64 number = 0);

// Raises: 22008 or 22023 if the layout has no such ID.
inline core::Parts parts_of(const core::Layout& layout, int64 id) {
  core::Parts parts;
  const core::Status status = decompose(layout, {id}, &parts);
  if (status != core::Status::kOk) report_status(layout, status);
  return parts;
}

// Raises: 22023 if the layout lacks this shard. Unsigned, a negative one is too great.
inline void require_shard(const core::Layout& layout, int64 shard) {
  if (static_cast<uint64>(shard) > layout.max_shard.value)
    report_status(layout, core::Status::kShardOutOfRange, shard);
}

// Raises: 22008 because no UUID of version 7 has this time.
[[noreturn]] void report_uuid_time_out_of_range();

// Raises: 22023 if `count` is not from `least` to `most`.
void require_count(int32 count, int64 least, int64 most);

// Raises: 42P01 because no relation has this OID.
[[noreturn]] void report_no_relation(Oid relid);

// Raises: 25006 in a read-only transaction, as nextval does: IDs change the server's state.
inline void require_read_write(const char* function) {
  if (likely(!XactReadOnly)) return;
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
}

// Raises, as nextval does: 25006 in a read-only transaction, and on a standby even if an extension
// makes transactions appear writable; 25000 in a parallel query.
inline void require_nextval(const char* function) {
  require_read_write(function);
  PreventCommandDuringRecovery(function);
  PreventCommandIfParallelMode(function);
}

}  // namespace snowid::pg
