// SQL functions of MariaDB's sequence tables; and planner support of set-returning functions.
#include "pg/postgres.hpp"

#include "core/series.hpp"
#include "core/types.hpp"
#include "pg/compat.hpp"
#include "pg/values.hpp"

extern "C" {
#include "funcapi.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
}

namespace snowid::pg {

namespace {

// Sets *rows to the rows of a call with `count` constant, non-null arguments. Returns false if the
// call will fail: no estimate.
using RowsOf = bool (*)(Const* const* arguments, int count, double* rows);

// Answers the planner's request for the number of rows, and no other request.
Datum answer_rows(void* asked, RowsOf rows_of) {
  auto* question = static_cast<Node*>(asked);
  constexpr int kMostArguments = 3;
  Const* known[kMostArguments];
  int count = 0;
  if (!IsA(question, SupportRequestRows)) PG_RETURN_DATUM(Datum{0});
  auto* request = reinterpret_cast<SupportRequestRows*>(question);
  if (!is_funcclause(request->node)) PG_RETURN_DATUM(Datum{0});

  ListCell* cell;
  foreach (cell, reinterpret_cast<FuncExpr*>(request->node)->args) {
    Node* value = estimate_expression_value(request->root, static_cast<Node*>(lfirst(cell)));
    if (!IsA(value, Const) || count == kMostArguments) PG_RETURN_DATUM(Datum{0});
    known[count] = reinterpret_cast<Const*>(value);
    if (known[count]->constisnull) {
      // The functions are strict.
      request->rows = 0;
      PG_RETURN_POINTER(request);
    }
    count++;
  }
  PG_RETURN_POINTER(rows_of(known, count, &request->rows) ? request : nullptr);
}

bool rows_of_batch(Const* const* arguments, int count, double* rows) {
  const int32 wanted = DatumGetInt32(arguments[count == 1 ? 0 : 1]->constvalue);
  *rows = wanted;
  return wanted >= 0;
}

struct Cursor {
  int64 current;
  int64 last;
  uint64 stride;  // increment, modulo 2^64
  bool done;
};

// Raises: 22023 or 22P02, by the status. name: as read, nullptr if there is none.
[[noreturn]] void report_series(core::Status status, text* name) {
  switch (status) {
    case core::Status::kStepOutOfRange:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("step must be greater than zero"),
              errhint("Exchange the ends of the series to have it descend."));
      break;
    case core::Status::kNumberOutOfRange:
      ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
              errmsg("number out of range in sequence table name \"%s\"", text_to_cstring(name)),
              errdetail("Numbers go from 0 to " INT64_FORMAT ".", PG_INT64_MAX));
      break;
    default:
      ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
              errmsg("invalid sequence table name: \"%s\"", text_to_cstring(name)),
              errhint("Names have the form seq_FROM_to_TO or seq_FROM_to_TO_step_STEP."));
  }
  pg_unreachable();
}

Datum next_of_series(FunctionCallInfo fcinfo) {
  FuncCallContext* call = SRF_PERCALL_SETUP();
  auto* cursor = static_cast<Cursor*>(call->user_fctx);
  if (cursor->done) SRF_RETURN_DONE(call);
  const int64 number = cursor->current;
  cursor->done = number == cursor->last;
  cursor->current = static_cast<int64>(static_cast<uint64>(number) + cursor->stride);
  SRF_RETURN_NEXT(call, Int64GetDatum(number));
}

void begin_series(FunctionCallInfo fcinfo, const core::Series& series) {
  FuncCallContext* call = SRF_FIRSTCALL_INIT();
  auto* cursor =
      static_cast<Cursor*>(MemoryContextAlloc(call->multi_call_memory_ctx, sizeof(Cursor)));
  const bool descends = series.last < series.first;
  *cursor = {series.first, series.last, descends ? -series.step : series.step, false};
  call->user_fctx = cursor;
}

bool rows_of_series(Const* const* arguments, int, double* rows) {
  core::Series series;
  if (core::make_series(DatumGetInt64(arguments[0]->constvalue),
                        DatumGetInt64(arguments[1]->constvalue),
                        DatumGetInt64(arguments[2]->constvalue), &series) != core::Status::kOk)
    return false;
  *rows = count_of(series);
  return true;
}

bool rows_of_series_name(Const* const* arguments, int, double* rows) {
  core::Series series;
  if (core::parse_series_name(view_of(DatumGetTextPP(arguments[0]->constvalue)), &series) !=
      core::Status::kOk)
    return false;
  *rows = count_of(series);
  return true;
}

}  // namespace

// Of functions of (count), or (anything, count, …).
SNOWID_FUNCTION(snowid_batch_support) { return answer_rows(PG_GETARG_POINTER(0), rows_of_batch); }

SNOWID_FUNCTION(snowid_seq) {
  if (SRF_IS_FIRSTCALL()) {
    core::Series series{};
    const core::Status status =
        core::make_series(PG_GETARG_INT64(0), PG_GETARG_INT64(1), PG_GETARG_INT64(2), &series);
    if (status != core::Status::kOk) report_series(status, nullptr);
    begin_series(fcinfo, series);
  }
  return next_of_series(fcinfo);
}

SNOWID_FUNCTION(snowid_seq_name) {
  if (SRF_IS_FIRSTCALL()) {
    core::Series series{};
    text* name = PG_GETARG_TEXT_PP(0);
    const core::Status status = core::parse_series_name(view_of(name), &series);
    if (status != core::Status::kOk) report_series(status, name);
    begin_series(fcinfo, series);
  }
  return next_of_series(fcinfo);
}

SNOWID_FUNCTION(snowid_seq_support) { return answer_rows(PG_GETARG_POINTER(0), rows_of_series); }

SNOWID_FUNCTION(snowid_seq_name_support) {
  return answer_rows(PG_GETARG_POINTER(0), rows_of_series_name);
}

}  // namespace snowid::pg
