// Errors that more than one module reports, each worded once. Nothing is shared here.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "core/types.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

// Reports kTimeOutOfRange (22008), kNegativeId or kIdOutOfRange (22023) of src/core.
[[noreturn]] void report_status(const core::Layout& layout, core::Status status);

// The parts of an ID. Raises: 22008 or 22023 if it is none of the layout's.
inline core::Parts parts_of(const core::Layout& layout, int64 id) {
  core::Parts parts;
  const core::Status status = decompose(layout, {id}, &parts);
  if (status != core::Status::kOk) report_status(layout, status);
  return parts;
}

// 22023: the layout has no such shard, or no such sequence.
[[noreturn]] void report_shard_out_of_range(const core::Layout& layout, int64 shard);
[[noreturn]] void report_sequence_out_of_range(const core::Layout& layout, int64 sequence);

// Raises: 22023 if the layout lacks this shard. As an unsigned number a negative one is too great.
inline void require_shard(const core::Layout& layout, int64 shard) {
  if (static_cast<uint64>(shard) > layout.max_shard.value) report_shard_out_of_range(layout, shard);
}

// 22008: no UUID of version 7 has this time.
[[noreturn]] void report_uuid_time_out_of_range();

// Raises: 22023 if `count`, how many numbers are asked for, is not from `least` to `most`.
void require_count(int32 count, int64 least, int64 most);

// 42P01: there is no relation of this OID.
[[noreturn]] void report_no_relation(Oid relid);

// 25006: the transaction is read-only, as all are during recovery. function: what the error names.
[[noreturn]] void report_read_only(const char* function);

// Raises: 25006 in a read-only transaction, as nextval does: what makes IDs changes the server's
// state.
inline void require_read_write(const char* function) {
  if (unlikely(XactReadOnly)) report_read_only(function);
}

// Raises: 25006 in a read-only transaction, and on a standby, where some extensions make
// transactions appear writable; 25000 in a parallel query. As nextval does.
inline void require_nextval(const char* function) {
  require_read_write(function);
  PreventCommandDuringRecovery(function);
  PreventCommandIfParallelMode(function);
}

}  // namespace snowid::pg
