// snowid_backfill: IDs for existing rows, with the rows' own times. It is a window function. It
// counts within a partition of the window and draws from no shard, so it shares nothing.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layout_type.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

// The state of a partition of the window, from row to row. It begins with all bytes zero.
struct Run {
  core::LayoutSpec layout;
  core::Backfill ids;
  // Of the last row that got an ID: its time, and its place in the partition.
  TimestampTz moment;
  int64 position;
  // Whether two rows with different times were seen not to be peers: the window has an order.
  bool has_order;
};

// The arguments of a row. `spec` points to memory that holds until the next row.
struct Row {
  TimestampTz moment;
  int64 shard;
  const core::LayoutSpec* spec;
};

// Reads them. False where one is null.
bool read_row(WindowObject window, Row* row) {
  bool is_null;
  row->moment = DatumGetTimestampTz(WinGetFuncArgCurrent(window, 0, &is_null));
  if (is_null) return false;
  row->shard = DatumGetInt64(WinGetFuncArgCurrent(window, 1, &is_null));
  if (is_null) return false;
  const Datum spec = WinGetFuncArgCurrent(window, 2, &is_null);
  row->spec = reinterpret_cast<const core::LayoutSpec*>(DatumGetPointer(spec));
  return !is_null;
}

[[noreturn]] void report_order(const char* detail) {
  ereport(ERROR,
          (errcode(ERRCODE_WINDOWING_ERROR),
           errmsg("window of %s is not ordered by its first argument", "snowid_backfill()"),
           errdetail("%s", detail),
           errhint("Use OVER (ORDER BY created_at), where created_at is the first argument.")));
  pg_unreachable();
}

// Fails with 42P20 where the window does not order its rows by their times. Without an ORDER BY all
// rows are peers, and their order is any, even if it is right today.
void require_order(WindowObject window, Run* run, const Row& row, int64 position) {
  if (!run->ids.begun || row.moment == run->moment) return;
  if (row.moment < run->moment) report_order("A row has an earlier time than the one before it.");
  if (run->has_order) return;
  if (WinRowsArePeers(window, run->position, position))
    report_order("Rows with different times are peers.");
  run->has_order = true;
}

// Fails with 22023 where the row's layout is another one than that of the rows before.
void require_same_layout(const Run& run, const core::LayoutSpec& spec) {
  if (!run.ids.begun || spec == run.layout) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("%s got several ID layouts", "snowid_backfill()"),
           errdetail("After \"%s\" it got \"%s\".", layout_text(run.layout), layout_text(spec)),
           errhint("Use PARTITION BY the layout.")));
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_backfill);

// snowid_backfill(created_at timestamptz, shard bigint, layout snowid_layout) OVER (…) → bigint
//
// The IDs of a partition are distinct also where their shards differ, for all count together. The
// server calls it for each row of a partition in turn, and gives a partition that it begins anew
// new memory.
Datum snowid_backfill(PG_FUNCTION_ARGS) {
  const WindowObject window = PG_WINDOW_OBJECT();
  if (!WindowObjectIsValid(window))
    ereport(ERROR, (errcode(ERRCODE_WINDOWING_ERROR),
                    errmsg("%s was not called as a window function", "snowid_backfill()")));
  Row row;
  if (!read_row(window, &row)) PG_RETURN_NULL();
  auto* run = static_cast<Run*>(WinGetPartitionLocalMemory(window, sizeof(Run)));
  const int64 position = WinGetCurrentPosition(window);
  require_same_layout(*run, *row.spec);
  require_order(window, run, row, position);

  const core::Layout& layout = layout_of(*row.spec);
  require_shard(layout, row.shard);
  core::Tick tick;
  const core::Status status = NextOf(layout, from_timestamptz(row.moment), &run->ids, &tick);
  if (status != core::Status::kOk) report_status(layout, status);

  run->layout = *row.spec;
  run->moment = row.moment;
  run->position = position;
  // The row is looked at once more at most, with the next one that gets an ID.
  WinSetMarkPosition(window, position);
  PG_RETURN_INT64(IdOf(layout, {static_cast<uint64>(row.shard)}, tick).value);
}
}
