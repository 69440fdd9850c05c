// The SQL functions that read and make IDs by their parts. They depend on their arguments alone, so
// they can stand in generated columns, indexes and partition bounds.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/errors.hpp"
#include "pg/layouts.hpp"

namespace snowid::pg {

namespace {

core::Parts parts_of(const core::Layout& layout, int64 id) {
  core::Parts parts;
  const core::Status status = Decompose(layout, {id}, &parts);
  if (status != core::Status::kOk) report_status(layout, status);
  return parts;
}

// As shard_of().
int32 sequence_of(const core::Layout& layout, const core::Parts& parts) {
  if (parts.sequence.value > PG_INT32_MAX)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("sequence " UINT64_FORMAT " of the ID is out of range for type %s",
                           parts.sequence.value, "integer"),
                    errdetail("It is an ID of layout \"%s\".", layout_text(layout.spec))));
  return static_cast<int32>(parts.sequence.value);
}

TimestampTz created_at(const core::Layout& layout, const core::Parts& parts) {
  return to_timestamptz(StartOf(layout, parts.time));
}

// The time unit that holds `moment`. Fails with 22008.
core::Time time_of(const core::Layout& layout, TimestampTz moment) {
  const core::Time time = TimeAt(layout, from_timestamptz(moment));
  if (time.value < 0 || time > layout.max_time)
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
SNOWID_FUNCTION(snowid_is_between);

// snowid_decode(id bigint, layout snowid_layout) → (created_at timestamptz, shard int, sequence
// int)
Datum snowid_decode(PG_FUNCTION_ARGS) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  const core::Layout& layout = layout_arg(fcinfo, 1);
  const core::Parts parts = parts_of(layout, PG_GETARG_INT64(0));
  Datum values[] = {TimestampTzGetDatum(created_at(layout, parts)),
                    Int32GetDatum(shard_of(layout, parts)),
                    Int32GetDatum(sequence_of(layout, parts))};
  bool nulls[lengthof(values)] = {};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

// snowid_timestamp(id bigint, layout snowid_layout) → timestamptz
Datum snowid_timestamp(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_TIMESTAMPTZ(created_at(layout, parts_of(layout, PG_GETARG_INT64(0))));
}

// snowid_shard(id bigint, layout snowid_layout) → int
Datum snowid_shard(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT32(shard_of(layout, parts_of(layout, PG_GETARG_INT64(0))));
}

// snowid_sequence(id bigint, layout snowid_layout) → int
Datum snowid_sequence(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT32(sequence_of(layout, parts_of(layout, PG_GETARG_INT64(0))));
}

// snowid_encode(created_at timestamptz, shard int, sequence int, layout snowid_layout) → bigint
Datum snowid_encode(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 3);
  const int32 shard = PG_GETARG_INT32(1);
  core::Id id;
  const core::Status status =
      Encode(layout, from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)), shard, PG_GETARG_INT32(2), &id);
  if (status == core::Status::kShardOutOfRange) report_shard_out_of_range(layout, shard);
  if (status == core::Status::kSequenceOutOfRange)
    report_sequence_out_of_range(layout, PG_GETARG_INT32(2));
  if (status != core::Status::kOk) report_status(layout, status);
  PG_RETURN_INT64(id.value);
}

// snowid_min(moment timestamptz, layout snowid_layout) → bigint
Datum snowid_min(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT64(LeastOf(layout, time_of(layout, PG_GETARG_TIMESTAMPTZ(0))).value);
}

// snowid_max(moment timestamptz, layout snowid_layout) → bigint
Datum snowid_max(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT64(GreatestOf(layout, time_of(layout, PG_GETARG_TIMESTAMPTZ(0))).value);
}

// snowid_range_first("from" timestamptz, until timestamptz, layout snowid_layout) → bigint
Datum snowid_range_first(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(Between(layout_arg(fcinfo, 2), from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)),
                          from_timestamptz(PG_GETARG_TIMESTAMPTZ(1)))
                      .first.value);
}

// snowid_range_last("from" timestamptz, until timestamptz, layout snowid_layout) → bigint
Datum snowid_range_last(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(Between(layout_arg(fcinfo, 2), from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)),
                          from_timestamptz(PG_GETARG_TIMESTAMPTZ(1)))
                      .last.value);
}

// snowid_is_between(id bigint, "from" timestamptz, until timestamptz, layout snowid_layout)
// → boolean
Datum snowid_is_between(PG_FUNCTION_ARGS) {
  PG_RETURN_BOOL(IsBetween(layout_arg(fcinfo, 3), {PG_GETARG_INT64(0)},
                           from_timestamptz(PG_GETARG_TIMESTAMPTZ(1)),
                           from_timestamptz(PG_GETARG_TIMESTAMPTZ(2))));
}
}
