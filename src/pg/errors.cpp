#include "pg/errors.hpp"

#include "core/uuid.hpp"
#include "pg/clock.hpp"
#include "pg/types/layout.hpp"

namespace snowid::pg {

void report_status(const core::Layout& layout, core::Status status, int64 number) {
  switch (status) {
    case core::Status::kTimeOutOfRange:
      ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
              errmsg("time is out of range for ID layout \"%s\"", layout_text(layout.spec)),
              errdetail("Its times go from %s to before %s.", moment_text(layout.epoch),
                        moment_text(layout.end)));
      break;
    case core::Status::kNegativeId:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("ID layout \"%s\" has no negative IDs", layout_text(layout.spec)));
      break;
    case core::Status::kIdOutOfRange:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("ID is out of range for ID layout \"%s\"", layout_text(layout.spec)),
              errdetail("Its IDs go from 0 to " INT64_FORMAT ".", layout.max_id.value));
      break;
    case core::Status::kShardOutOfRange:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("shard " INT64_FORMAT " is out of range for ID layout \"%s\"", number,
                     layout_text(layout.spec)),
              errdetail("Its shards go from 0 to " UINT64_FORMAT ".", layout.max_shard.value));
      break;
    case core::Status::kSequenceOutOfRange:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("sequence " INT64_FORMAT " is out of range for ID layout \"%s\"", number,
                 layout_text(layout.spec)),
          errdetail("Its sequences go from 0 to " UINT64_FORMAT ".", layout.max_sequence.value));
      break;
    default:
      elog(ERROR, "unexpected status %d", static_cast<int>(status));
  }
  pg_unreachable();
}

void report_uuid_time_out_of_range() {
  ereport(ERROR, errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
          errmsg("time is out of range for UUIDs of version 7"),
          errdetail("Their times go from %s to before %s.", moment_text(core::kUuid7.epoch),
                    moment_text(core::kUuid7.end)));
}

void require_count(int32 count, int64 least, int64 most) {
  if (count >= least && count <= most) return;
  ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("count %d is out of range", count),
          errdetail("It can be " INT64_FORMAT " to " INT64_FORMAT ".", least, most));
}

void report_no_relation(Oid relid) {
  ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
          errmsg("relation with OID %u does not exist", relid));
}

}  // namespace snowid::pg
