// Window functions for IDs and UUIDs of existing rows, with the rows' own times. They count within
// a partition of the window and use no shard. Nothing is shared.
#include "pg/postgres.hpp"

#include "core/backfill.hpp"
#include "core/layout.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"
#include "core/uuid.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/errors.hpp"
#include "pg/types/layout.hpp"
#include "pg/values.hpp"

extern "C" {
#include "windowapi.h"
}

namespace snowid::pg {

namespace {

// State of a partition of the window, from row to row; initially zero bytes.
struct Run {
  core::LayoutSpec layout;
  core::Backfill ids;
  // Of the last row with an ID.
  TimestampTz moment;
  int64 position;
  // Whether two rows with different times were not peers: the window has an order.
  bool has_order;
};

[[noreturn]] void report_order(const char* function, const char* detail) {
  ereport(ERROR, errcode(ERRCODE_WINDOWING_ERROR),
          errmsg("window of %s is not ordered by its first argument", function),
          errdetail("%s", detail),
          errhint("Use OVER (ORDER BY created_at), where created_at is the first argument."));
}

// function: for the error. Raises: 42P20 if there is no window.
WindowObject window_of(FunctionCallInfo fcinfo, const char* function) {
  const WindowObject window = PG_WINDOW_OBJECT();
  if (!WindowObjectIsValid(window))
    ereport(ERROR, errcode(ERRCODE_WINDOWING_ERROR),
            errmsg("%s was not called as a window function", function));
  return window;
}

// The tick of the current row, with time `moment`, or an error status. Raises: 42P20 if the window
// does not order its rows by time; peers are in an arbitrary order, even if it is right.
core::Status next_tick(WindowObject window, const char* function, const core::Layout& layout,
                       TimestampTz moment, Run* run, core::Tick* tick) {
  const int64 position = WinGetCurrentPosition(window);
  if (run->ids.begun && moment < run->moment)
    report_order(function, "A row has an earlier time than the one before it.");
  if (run->ids.begun && moment > run->moment && !run->has_order) {
    if (WinRowsArePeers(window, run->position, position))
      report_order(function, "Rows with different times are peers.");
    run->has_order = true;
  }
  const core::Status status = next_of(layout, from_timestamptz(moment), &run->ids, tick);
  if (status != core::Status::kOk) return status;
  run->moment = moment;
  run->position = position;
  // The row is read at most once more, with the next one that gets a tick.
  WinSetMarkPosition(window, position);
  return status;
}

RandomPool random_pool;

}  // namespace

// The IDs of a partition are distinct even if their shards differ, because all count together. The
// server calls it for each row of a partition in order; a restarted partition gets new memory.
SNOWID_FUNCTION(snowid_backfill) {
  constexpr const char* kFunction = "snowid_backfill()";
  const WindowObject window = window_of(fcinfo, kFunction);
  bool nulls[3];
  const TimestampTz moment = DatumGetTimestampTz(WinGetFuncArgCurrent(window, 0, &nulls[0]));
  const int64 shard = DatumGetInt64(WinGetFuncArgCurrent(window, 1, &nulls[1]));
  const Datum value = WinGetFuncArgCurrent(window, 2, &nulls[2]);
  if (nulls[0] || nulls[1] || nulls[2]) PG_RETURN_NULL();
  const auto& spec = *reinterpret_cast<const core::LayoutSpec*>(DatumGetPointer(value));
  auto* run = static_cast<Run*>(WinGetPartitionLocalMemory(window, sizeof(Run)));
  if (run->ids.begun && !(spec == run->layout))
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("%s got several ID layouts", kFunction),
            errdetail("After \"%s\" it got \"%s\".", layout_text(run->layout), layout_text(spec)),
            errhint("Use PARTITION BY the layout."));
  const core::Layout& layout = layout_of_call(fcinfo, spec);
  require_shard(layout, shard);
  core::Tick tick;
  const core::Status status = next_tick(window, kFunction, layout, moment, run, &tick);
  if (status != core::Status::kOk) report_status(layout, status);
  run->layout = spec;
  PG_RETURN_INT64(id_of(layout, {static_cast<uint64>(shard)}, tick).value);
}

SNOWID_FUNCTION(snowid_backfill_uuidv7) {
  constexpr const char* kFunction = "snowid_backfill_uuidv7()";
  const WindowObject window = window_of(fcinfo, kFunction);
  bool is_null;
  const TimestampTz moment = DatumGetTimestampTz(WinGetFuncArgCurrent(window, 0, &is_null));
  if (is_null) PG_RETURN_NULL();
  auto* run = static_cast<Run*>(WinGetPartitionLocalMemory(window, sizeof(Run)));
  core::Tick tick;
  if (next_tick(window, kFunction, core::kUuid7, moment, run, &tick) != core::Status::kOk)
    report_uuid_time_out_of_range();
  return uuid_datum(core::uuid7_of(tick, random_pool.take()));
}

}  // namespace snowid::pg
