// The SQL functions that read and make IDs by their parts. They depend on their arguments alone, so
// they can stand in generated columns, indexes and partition bounds.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/errors.hpp"

namespace snowid::pg {

namespace {

core::Parts parts_of(const core::Layout& layout, int64 id) {
  core::Parts parts;
  const core::Status status = Decompose(layout, {id}, &parts);
  if (status != core::Status::kOk) report_status(layout, status);
  return parts;
}

TimestampTz created_at(const core::Layout& layout, const core::Parts& parts) {
  return to_timestamptz(StartOf(layout, parts.time));
}

// The time unit that holds `moment`. Fails with 22008.
core::Time time_of(const core::Layout& layout, TimestampTz moment) {
  const core::Time time = TimeAt(layout, from_timestamptz(moment));
  if (time.value < 0 || time > layout.MaxTime())
    report_status(layout, core::Status::kTimeOutOfRange);
  return time;
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_decode);
SNOWID_FUNCTION(snowid_timestamp);
SNOWID_FUNCTION(snowid_shard);
SNOWID_FUNCTION(snowid_sequence);
SNOWID_FUNCTION(snowid_encode);
SNOWID_FUNCTION(snowid_min);
SNOWID_FUNCTION(snowid_max);
SNOWID_FUNCTION(snowid_range_first);
SNOWID_FUNCTION(snowid_range_last);

// snowid_decode(id bigint) → (created_at timestamptz, shard int, sequence int)
Datum snowid_decode(PG_FUNCTION_ARGS) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  const core::Parts parts = parts_of(core::kInstagram, PG_GETARG_INT64(0));
  Datum values[] = {TimestampTzGetDatum(created_at(core::kInstagram, parts)),
                    Int32GetDatum(static_cast<int32>(parts.shard.value)),
                    Int32GetDatum(static_cast<int32>(parts.sequence.value))};
  bool nulls[lengthof(values)] = {};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

// snowid_timestamp(id bigint) → timestamptz
Datum snowid_timestamp(PG_FUNCTION_ARGS) {
  PG_RETURN_TIMESTAMPTZ(
      created_at(core::kInstagram, parts_of(core::kInstagram, PG_GETARG_INT64(0))));
}

// snowid_shard(id bigint) → int
Datum snowid_shard(PG_FUNCTION_ARGS) {
  PG_RETURN_INT32(static_cast<int32>(parts_of(core::kInstagram, PG_GETARG_INT64(0)).shard.value));
}

// snowid_sequence(id bigint) → int
Datum snowid_sequence(PG_FUNCTION_ARGS) {
  PG_RETURN_INT32(
      static_cast<int32>(parts_of(core::kInstagram, PG_GETARG_INT64(0)).sequence.value));
}

// snowid_encode(created_at timestamptz, shard int, sequence int) → bigint
Datum snowid_encode(PG_FUNCTION_ARGS) {
  const int32 shard = PG_GETARG_INT32(1);
  core::Id id;
  const core::Status status = Encode(core::kInstagram, from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)),
                                     shard, PG_GETARG_INT32(2), &id);
  if (status == core::Status::kShardOutOfRange) report_shard_out_of_range(core::kInstagram, shard);
  if (status != core::Status::kOk) report_status(core::kInstagram, status);
  PG_RETURN_INT64(id.value);
}

// snowid_min(moment timestamptz) → bigint
Datum snowid_min(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(
      LeastOf(core::kInstagram, time_of(core::kInstagram, PG_GETARG_TIMESTAMPTZ(0))).value);
}

// snowid_max(moment timestamptz) → bigint
Datum snowid_max(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(
      GreatestOf(core::kInstagram, time_of(core::kInstagram, PG_GETARG_TIMESTAMPTZ(0))).value);
}

// snowid_range_first("from" timestamptz, until timestamptz) → bigint
Datum snowid_range_first(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(Between(core::kInstagram, from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)),
                          from_timestamptz(PG_GETARG_TIMESTAMPTZ(1)))
                      .first.value);
}

// snowid_range_last("from" timestamptz, until timestamptz) → bigint
Datum snowid_range_last(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(Between(core::kInstagram, from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)),
                          from_timestamptz(PG_GETARG_TIMESTAMPTZ(1)))
                      .last.value);
}
}
