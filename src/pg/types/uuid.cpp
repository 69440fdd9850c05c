// SQL functions of UUIDs: making version 7, reading their time, time ranges, UUIDs that hold an ID.
//
// Shared: a slot of snowid_uuidv7() for all databases. The random bytes belong to one process.
#include "pg/postgres.hpp"

#include "pg/clock.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/types/layout.hpp"

extern "C" {
#include "nodes/supportnodes.h"
}

namespace snowid::pg {

namespace {

CommonShard uuid_shard;

RandomPool random_pool;

// Raises: 22008 if beyond UUIDs.
core::Time uuid_time_of(TimestampTz moment) {
  const core::Time time = time_at(core::kUuid7, from_timestamptz(moment));
  if (time.value < 0 || time > core::kUuid7.max_time) report_uuid_time_out_of_range();
  return time;
}

}  // namespace

SNOWID_FUNCTION(snowid_uuidv7) {
  require_read_write("snowid_uuidv7()");
  if (unlikely(!common_is_ready(uuid_shard))) common_make_ready(core::kUuid7, &uuid_shard, {0});
  const uint64 random = random_pool.take();
  return uuid_datum(core::uuid7_of(issue_common(core::kUuid7, uuid_shard), random));
}

SNOWID_FUNCTION(snowid_uuid_timestamp) {
  core::UnixMicros moment;
  if (time_of_uuid(uuid_arg(fcinfo, 0), &moment) != core::Status::kOk) PG_RETURN_NULL();
  PG_RETURN_TIMESTAMPTZ(to_timestamptz(moment));
}

SNOWID_FUNCTION(snowid_is_uuidv7) { PG_RETURN_BOOL(is_uuid7(uuid_arg(fcinfo, 0))); }

// Has the planner assume nearly all UUIDs of a column to be of version 7; the default is a third.
SNOWID_FUNCTION(snowid_is_uuidv7_support) {
  auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestSelectivity)) PG_RETURN_DATUM(0);
  reinterpret_cast<SupportRequestSelectivity*>(request)->selectivity = 0.995;
  PG_RETURN_POINTER(request);
}

SNOWID_FUNCTION(snowid_uuidv7_first_at) {
  return uuid_datum(core::least_uuid7_of(uuid_time_of(PG_GETARG_TIMESTAMPTZ(0))));
}

SNOWID_FUNCTION(snowid_uuidv7_last_at) {
  return uuid_datum(core::greatest_uuid7_of(uuid_time_of(PG_GETARG_TIMESTAMPTZ(0))));
}

SNOWID_FUNCTION(snowid_first_uuidv7_from) {
  return uuid_datum(core::first_uuid7_from(from_timestamptz(PG_GETARG_TIMESTAMPTZ(0))));
}

SNOWID_FUNCTION(snowid_last_uuidv7_before) {
  return uuid_datum(core::last_uuid7_before(from_timestamptz(PG_GETARG_TIMESTAMPTZ(0))));
}

SNOWID_FUNCTION(snowid_key_of_uuid_bound) {
  PG_RETURN_INT64(key_of_uuid_bound(uuid_arg(fcinfo, 0)).value);
}

SNOWID_FUNCTION(snowid_to_uuid) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Uuid uuid;
  const core::Status status = to_uuid(layout, {PG_GETARG_INT64(0)}, &uuid);
  if (status != core::Status::kOk) report_status(layout, status);
  return uuid_datum(uuid);
}

SNOWID_FUNCTION(snowid_from_uuid) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Id id;
  if (from_uuid(layout, uuid_arg(fcinfo, 0), &id) != core::Status::kOk)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("UUID holds no ID of layout \"%s\"", layout_text(layout.spec)),
            errdetail("Only UUIDs returned by snowid_to_uuid() with this layout do."));
  PG_RETURN_INT64(id.value);
}

}  // namespace snowid::pg
