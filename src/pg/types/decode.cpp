// SQL functions to read and make IDs by their parts, in base 62, and scattered. They depend only on
// their arguments, for use in generated columns, indexes and partition bounds. Last, planner
// support for time ranges.
//
// The planner inlines snowid_in_range() to comparisons of the ID, for which an index serves if the
// bounds are stable during the scan. A volatile moment, such as clock_timestamp(), would be
// evaluated for each row. Therefore it becomes a scalar subquery, as if written (SELECT
// clock_timestamp()), which the executor evaluates once. Without volatile moments the call is
// inlined as any other, with its checks of rights and the plan's dependency.
#include "pg/postgres.hpp"

#include "core/scatter.hpp"
#include "core/text.hpp"
#include "pg/clock.hpp"
#include "pg/errors.hpp"
#include "pg/types/layout.hpp"

extern "C" {
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
}

namespace snowid::pg {

namespace {

TimestampTz created_at(FunctionCallInfo fcinfo, const core::Parts& parts) {
  return to_timestamptz(start_of(layout_arg(fcinfo, 1), parts.time));
}

// Returns false if the first argument is not an ID of the layout, or its time is beyond UnixMicros;
// functions then return null, because indexes, generated columns and policies must accept all keys.
bool read_parts(FunctionCallInfo fcinfo, core::Parts* parts) {
  return decompose(layout_arg(fcinfo, 1), {PG_GETARG_INT64(0)}, parts) == core::Status::kOk;
}

// Raises: 22008 if the layout has no such time unit.
core::Time require_time(const core::Layout& layout, TimestampTz moment) {
  const core::Time time = time_at(layout, from_timestamptz(moment));
  if (time.value < 0 || time > layout.max_time)
    report_status(layout, core::Status::kTimeOutOfRange);
  return time;
}

[[noreturn]] void report_text(core::Status status, const char* value) {
  if (status == core::Status::kNumberOutOfRange)
    ereport(
        ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
        errmsg("base 62 form of an ID is out of range for type bigint: \"%s\"", value),
        errdetail("The greatest bigint has the form \"%.*s\".", static_cast<int>(core::kTextLength),
                  core::format_text({PG_INT64_MAX}).digits));
  ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
          errmsg("invalid base 62 form of an ID: \"%s\"", value),
          errhint("It has %d characters, each of them one of 0-9, A-Z and a-z.",
                  static_cast<int>(core::kTextLength)));
}

[[noreturn]] void report_scatter(core::Status status, int64 id, int32 digits) {
  switch (status) {
    case core::Status::kDigitsOutOfRange:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("number of digits to move must be between 1 and %d", core::kMostScatterDigits));
      break;
    case core::Status::kNegativeId:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("negative IDs cannot be scattered"));
      break;
    case core::Status::kTooFewDigits:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("ID " INT64_FORMAT " has too few digits to move %d of them", id, digits),
          errdetail("They go behind the first one, so at least %d digits are needed.", digits + 1));
      break;
    case core::Status::kResultOutOfRange:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("ID " INT64_FORMAT " with its digits moved is out of range for type bigint", id));
      break;
    default:
      elog(ERROR, "unexpected status %d", static_cast<int>(status));
  }
  pg_unreachable();
}

Datum moved_digits(FunctionCallInfo fcinfo, core::Status (*move)(core::Id, int, core::Id*)) {
  const int64 id = PG_GETARG_INT64(0);
  const int32 digits = PG_GETARG_INT32(1);
  core::Id moved;
  const core::Status status = move({id}, digits, &moved);
  if (status != core::Status::kOk) report_scatter(status, id, digits);
  PG_RETURN_INT64(moved.value);
}

// Whether an expression needs rows or subqueries of its query, or is of an unknown kind.
bool has_row(Node* node, void*) {
  if (node == nullptr) return false;
  switch (nodeTag(node)) {
    case T_Param:
      return castNode(Param, node)->paramkind != PARAM_EXTERN;
    case T_FuncExpr:
      if (castNode(FuncExpr, node)->funcretset) return true;
      break;
    case T_List:
    case T_Const:
    case T_OpExpr:
    case T_RelabelType:
    case T_CoerceViaIO:
    case T_CoalesceExpr:
    case T_MinMaxExpr:
    case T_SQLValueFunction:
      break;
    default:
      return true;
  }
  return walk_expression(node, has_row, nullptr);
}

Node* subquery_of(Node* expression) {
  Query* query = makeNode(Query);
  query->commandType = CMD_SELECT;
  query->canSetTag = true;
  query->targetList =
      list_make1(makeTargetEntry(reinterpret_cast<Expr*>(expression), 1, pstrdup("moment"), false));
  query->jointree = makeFromExpr(NIL, nullptr);
  SubLink* link = makeNode(SubLink);
  link->subLinkType = EXPR_SUBLINK;
  link->subselect = reinterpret_cast<Node*>(query);
  link->location = -1;
  return reinterpret_cast<Node*>(link);
}

// Whether a subquery put into an expression will be planned: the expression is the query's own,
// simplified before subqueries are planned and relations set up. Its rows distinguish it from an
// inner query's expressions, simplified for an outer one.
bool takes_subqueries(const PlannerInfo* root, const FuncExpr* call) {
  return root != nullptr && root->parse != nullptr && root->simple_rel_array == nullptr &&
         contain_var_clause(static_cast<Node*>(linitial(call->args)));
}

// The call with a subquery for each volatile moment; nullptr if it has none to replace.
Node* with_subqueries(const FuncExpr* call) {
  List* args = NIL;
  bool has_subquery = false;
  ListCell* cell;
  foreach (cell, call->args) {
    auto* arg = static_cast<Node*>(lfirst(cell));
    if (exprType(arg) == TIMESTAMPTZOID && contain_volatile_functions(arg) &&
        !has_row(arg, nullptr)) {
      arg = subquery_of(arg);
      has_subquery = true;
    }
    args = lappend(args, arg);
  }
  if (!has_subquery) return nullptr;
  FuncExpr* changed = makeNode(FuncExpr);
  *changed = *call;
  changed->args = args;
  return reinterpret_cast<Node*>(changed);
}

}  // namespace

SNOWID_FUNCTION(snowid_decode) {
  core::Parts parts{};
  const bool is_id = read_parts(fcinfo, &parts);
  Datum values[] = {is_id ? TimestampTzGetDatum(created_at(fcinfo, parts)) : Datum{0},
                    Int64GetDatum(static_cast<int64>(parts.shard.value)),
                    Int64GetDatum(static_cast<int64>(parts.sequence.value))};
  bool nulls[lengthof(values)] = {!is_id, !is_id, !is_id};
  return row_datum(fcinfo, values, nulls);
}

SNOWID_FUNCTION(snowid_timestamp) {
  core::Parts parts{};
  if (!read_parts(fcinfo, &parts)) PG_RETURN_NULL();
  PG_RETURN_TIMESTAMPTZ(created_at(fcinfo, parts));
}

SNOWID_FUNCTION(snowid_shard) {
  core::Parts parts{};
  if (!read_parts(fcinfo, &parts)) PG_RETURN_NULL();
  PG_RETURN_INT64(static_cast<int64>(parts.shard.value));
}

SNOWID_FUNCTION(snowid_sequence) {
  core::Parts parts{};
  if (!read_parts(fcinfo, &parts)) PG_RETURN_NULL();
  PG_RETURN_INT64(static_cast<int64>(parts.sequence.value));
}

SNOWID_FUNCTION(snowid_encode) {
  const core::Layout& layout = layout_arg(fcinfo, 3);
  const int64 shard = PG_GETARG_INT64(1);
  const int64 sequence = PG_GETARG_INT64(2);
  core::Id id;
  const core::Status status =
      encode(layout, from_timestamptz(PG_GETARG_TIMESTAMPTZ(0)), shard, sequence, &id);
  if (status != core::Status::kOk)
    report_status(layout, status, status == core::Status::kShardOutOfRange ? shard : sequence);
  PG_RETURN_INT64(id.value);
}

SNOWID_FUNCTION(snowid_first_at) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT64(least_id_of(layout, require_time(layout, PG_GETARG_TIMESTAMPTZ(0))).value);
}

SNOWID_FUNCTION(snowid_last_at) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  PG_RETURN_INT64(greatest_id_of(layout, require_time(layout, PG_GETARG_TIMESTAMPTZ(0))).value);
}

SNOWID_FUNCTION(snowid_time_key) {
  PG_RETURN_INT64(time_key(layout_arg(fcinfo, 1), {PG_GETARG_INT64(0)}));
}

SNOWID_FUNCTION(snowid_first_from) {
  PG_RETURN_INT64(
      first_key_from(layout_arg(fcinfo, 1), from_timestamptz(PG_GETARG_TIMESTAMPTZ(0))));
}

SNOWID_FUNCTION(snowid_last_before) {
  PG_RETURN_INT64(
      last_key_before(layout_arg(fcinfo, 1), from_timestamptz(PG_GETARG_TIMESTAMPTZ(0))));
}

SNOWID_FUNCTION(snowid_to_base62) {
  const core::IdText form = core::format_text({PG_GETARG_INT64(0)});
  PG_RETURN_TEXT_P(cstring_to_text_with_len(form.digits, core::kTextLength));
}

SNOWID_FUNCTION(snowid_from_base62) {
  const char* value = text_to_cstring(PG_GETARG_TEXT_PP(0));
  core::Id id;
  const core::Status status = core::parse_text(value, &id);
  if (status != core::Status::kOk) report_text(status, value);
  PG_RETURN_INT64(id.value);
}

SNOWID_FUNCTION(snowid_scatter) { return moved_digits(fcinfo, core::scatter); }

SNOWID_FUNCTION(snowid_unscatter) { return moved_digits(fcinfo, core::unscatter); }

// Support of functions whose first argument is the key, and whose moments are of type timestamptz.
SNOWID_FUNCTION(snowid_in_range_support) {
  Node* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestSimplify)) PG_RETURN_DATUM(0);
  const auto* simplify = reinterpret_cast<SupportRequestSimplify*>(request);
  if (!takes_subqueries(simplify->root, simplify->fcall)) PG_RETURN_DATUM(0);
  Node* changed = with_subqueries(simplify->fcall);
  if (changed == nullptr) PG_RETURN_DATUM(0);
  simplify->root->parse->hasSubLinks = true;
  PG_RETURN_POINTER(eval_const_expressions(simplify->root, changed));
}

}  // namespace snowid::pg
