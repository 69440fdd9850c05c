// The SQL functions that read and make IDs by their parts. They depend on their arguments alone, so
// they can stand in generated columns, indexes and partition bounds.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layout_type.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

TimestampTz created_at(const core::Layout& layout, const core::Parts& parts) {
  return to_timestamptz(start_of(layout, parts.time));
}

// The parts of the first argument, in *parts. False where it is no ID of the layout, or its time is
// beyond UnixMicros. Reading gives null then: an index, a generated column or a policy on a column
// has to take whatever keys there are.
bool read_parts(FunctionCallInfo fcinfo, const core::Layout& layout, core::Parts* parts) {
  return decompose(layout, {PG_GETARG_INT64(0)}, parts) == core::Status::kOk;
}

// The time unit that holds `moment`. Fails with 22008.
core::Time time_of(const core::Layout& layout, TimestampTz moment) {
  const core::Time time = time_at(layout, from_timestamptz(moment));
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
SNOWID_FUNCTION(snowid_first_at);
SNOWID_FUNCTION(snowid_last_at);
SNOWID_FUNCTION(snowid_time_key);
SNOWID_FUNCTION(snowid_first_from);
SNOWID_FUNCTION(snowid_last_before);

// snowid_decode(id bigint, layout snowid_layout) → (created_at timestamptz, shard bigint,
// sequence bigint)
Datum snowid_decode(PG_FUNCTION_ARGS) {
  TupleDesc row;
  if (get_call_result_type(fcinfo, nullptr, &row) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Parts parts{};
  const bool is_id = read_parts(fcinfo, layout, &parts);
  Datum values[] = {is_id ? TimestampTzGetDatum(created_at(layout, parts)) : Datum{0},
                    Int64GetDatum(static_cast<int64>(parts.shard.value)),
                    Int64GetDatum(static_cast<int64>(parts.sequence.value))};
  bool nulls[lengthof(values)] = {!is_id, !is_id, !is_id};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls)));
}

// snowid_timestamp(id bigint, layout snowid_layout) → timestamptz
Datum snowid_timestamp(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Parts parts{};
  if (!read_parts(fcinfo, layout, &parts)) PG_RETURN_NULL();
  PG_RETURN_TIMESTAMPTZ(created_at(layout, parts));
}

// snowid_shard(id bigint, layout snowid_layout) → bigint
Datum snowid_shard(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Parts parts{};
  if (!read_parts(fcinfo, layout, &parts)) PG_RETURN_NULL();
  PG_RETURN_INT64(static_cast<int64>(parts.shard.value));
}

// snowid_sequence(id bigint, layout snowid_layout) → bigint
Datum snowid_sequence(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Parts parts{};
  if (!read_parts(fcinfo, layout, &parts)) PG_RETURN_NULL();
  PG_RETURN_INT64(static_cast<int64>(parts.sequence.value));
}

// snowid_encode(created_at timestamptz, shard bigint, sequence bigint, layout snowid_layout)
// → bigint
Datum snowid_encode(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 3);
  const int64 shard = PG_GETARG_INT64(1);
  const int64 sequence = PG_GETARG_INT64(2);
  core::Id id;
  const core::Status status =
      encode(layout, from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)), shard, sequence, &id);
  if (status == core::Status::kShardOutOfRange) report_shard_out_of_range(layout, shard);
  if (status == core::Status::kSequenceOutOfRange) report_sequence_out_of_range(layout, sequence);
  if (status != core::Status::kOk) report_status(layout, status);
  PG_RETURN_INT64(id.value);
}

// snowid_first_at(moment timestamptz, layout snowid_layout) → bigint
Datum snowid_first_at(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT64(least_id_of(layout, time_of(layout, PG_GETARG_TIMESTAMPTZ(0))).value);
}

// snowid_last_at(moment timestamptz, layout snowid_layout) → bigint
Datum snowid_last_at(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT64(greatest_id_of(layout, time_of(layout, PG_GETARG_TIMESTAMPTZ(0))).value);
}

// snowid_time_key(id bigint, layout snowid_layout) → bigint
Datum snowid_time_key(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(time_key(layout_arg(fcinfo, 1), {PG_GETARG_INT64(0)}));
}

// snowid_first_from(moment timestamptz, layout snowid_layout) → bigint
Datum snowid_first_from(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(
      first_key_from(layout_arg(fcinfo, 1), from_timestamptz(PG_GETARG_TIMESTAMPTZ(0))));
}

// snowid_last_before(moment timestamptz, layout snowid_layout) → bigint
Datum snowid_last_before(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(
      last_key_before(layout_arg(fcinfo, 1), from_timestamptz(PG_GETARG_TIMESTAMPTZ(0))));
}
}
