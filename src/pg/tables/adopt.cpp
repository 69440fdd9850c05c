// Adopting a table, the C++ part: snowid.execute(), a statement as the table's owner; and
// inspection of expressions stored in catalogs: the source of a default's IDs, the meaning of a
// constraint, and whether evaluation may run user code. Nothing is shared.
//
// Planning a query, and DDL, evaluate functions of the owner: constants in CHECK constraints and in
// expressions of indexes and statistics. After SET ROLE they could return to the session's role.
// Therefore the statement runs as VACUUM runs such functions: with the owner's rights, in a
// security-restricted operation.
//
// An expression is an argument of type pg_node_tree, whose values only PostgreSQL makes, from any
// catalog. It is not evaluated. One of an unknown kind counts as code.
#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "pg/catalog_table.hpp"
#include "pg/compat.hpp"
#include "pg/values.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "access/htup_details.h"
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "nodes/nodeFuncs.h"
#include "parser/parse_coerce.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"
}

namespace snowid::pg {

namespace {

// Returns nullptr for an empty tree, as in pg_rewrite.ev_qual.
Node* tree_arg(FunctionCallInfo fcinfo, int number) {
  return static_cast<Node*>(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(number))));
}

// Whether a function is not one of PostgreSQL's immutable ones. This extension's count as code,
// because its owner, possibly the database's, can add functions to it.
bool is_code(Oid function, void*) {
  HeapTuple row = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
  if (!HeapTupleIsValid(row)) return true;
  const auto* form = reinterpret_cast<Form_pg_proc>(GETSTRUCT(row));
  const bool is_plain = function < FirstNormalObjectId &&
                        form->provolatile == PROVOLATILE_IMMUTABLE &&
                        form->prolang == INTERNALlanguageId;
  ReleaseSysCache(row);
  return !is_plain;
}

// Whether a type, such as a range, has functions of users. IDs use bigint's.
bool has_code_of_type(Oid type) {
  return type >= FirstNormalObjectId &&
         !(getBaseType(type) == type && IsBinaryCoercible(type, INT8OID));
}

// Whether an expression has anything but constants, columns, and PostgreSQL's immutable functions.
bool has_code(Node* node, void*) {
  if (node == nullptr) return false;
  Oid operation = InvalidOid;
  switch (nodeTag(node)) {
    case T_List:
    case T_CaseWhen:
      return walk_expression(node, has_code, nullptr);
    case T_OpExpr:
    case T_DistinctExpr:
    case T_NullIfExpr:
      operation = reinterpret_cast<OpExpr*>(node)->opno;
      break;
    case T_ScalarArrayOpExpr:
      operation = castNode(ScalarArrayOpExpr, node)->opno;
      break;
    case T_Var:
    case T_Const:
    case T_FuncExpr:
    case T_ArrayExpr:
    case T_BoolExpr:
    case T_NullTest:
    case T_BooleanTest:
    case T_RelabelType:
    case T_CaseExpr:
    case T_CaseTestExpr:
    case T_CoalesceExpr:
      break;
    default:
      return true;
  }
  return operation >= FirstNormalObjectId || has_code_of_type(exprType(node)) ||
         check_functions_in_node(node, is_code, nullptr) ||
         walk_expression(node, has_code, nullptr);
}

// Whether an expression reads a whole row, or a system column.
bool reads_row(Node* node, void*) {
  // The only node type in catalogs unknown to PostgreSQL's walker.
  if (node == nullptr || IsA(node, PartitionBoundSpec)) return false;
  if (IsA(node, Var)) return castNode(Var, node)->varattno <= 0;
  return walk_expression(node, reads_row, nullptr);
}

struct Source {
  bool has_layout;  // whether it is a call of snowid_next() with constants
  bool has_shard;
  int64 shard;
  core::LayoutSpec layout;
};

// Sets the shard of a call. Returns false if it is not constant, or not a shard. Evaluates nothing,
// because an evaluation might raise an error.
bool read_source_shard(Node* argument, Source* source) {
  if (IsA(argument, FuncExpr)) {
    const auto* call = castNode(FuncExpr, argument);
    if (is_own_function(call->funcid, "snowid_default_shard")) return true;
    if (call->funcid != F_INT8_INT4) return false;
    argument = static_cast<Node*>(linitial(call->args));
  }
  if (!IsA(argument, Const)) return false;
  const auto* value = castNode(Const, argument);
  if (value->constisnull) return false;
  source->shard = value->consttype == INT4OID ? DatumGetInt32(value->constvalue)
                                              : DatumGetInt64(value->constvalue);
  source->has_shard = true;
  return source->shard >= 0;
}

// Named arguments may be in either order.
Source source_of(Node* expression) {
  expression = strip_implicit_coercions(expression);
  const auto* call = reinterpret_cast<FuncExpr*>(expression);
  if (expression == nullptr || !IsA(expression, FuncExpr) ||
      !is_own_function(call->funcid, "snowid_next"))
    return {};
  Source source{true, false, 0, core::kInstagram.spec};
  ListCell* cell;
  foreach (cell, call->args) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    if (IsA(argument, NamedArgExpr))
      argument = reinterpret_cast<Node*>(castNode(NamedArgExpr, argument)->arg);
    if (exprType(argument) == INT8OID) {
      if (!read_source_shard(argument, &source)) return {};
      continue;
    }
    const auto* layout = reinterpret_cast<Const*>(argument);
    if (!IsA(layout, Const) || layout->constisnull) return {};
    source.layout = *reinterpret_cast<core::LayoutSpec*>(DatumGetPointer(layout->constvalue));
  }
  return source;
}

// Whether an expression is snowid_is_uuidv7(uuid) of a column, possibly of a domain.
bool is_check_of_uuidv7(Node* expression, AttrNumber column) {
  const auto* call = reinterpret_cast<FuncExpr*>(expression);
  if (expression == nullptr || !IsA(expression, FuncExpr) ||
      !is_own_function(call->funcid, "snowid_is_uuidv7"))
    return false;
  auto* argument = static_cast<Node*>(linitial(call->args));
  // An overload for the domain does not count.
  if (exprType(argument) != UUIDOID) return false;
  argument = strip_implicit_coercions(argument);
  return IsA(argument, Var) && castNode(Var, argument)->varattno == column;
}

}  // namespace

SNOWID_FUNCTION(snowid_execute) {
  const Oid owner = get_role_oid(NameStr(*PG_GETARG_NAME(0)), false);
  const char* statement = text_to_cstring(PG_GETARG_TEXT_PP(1));
  const Oid kind = get_fn_expr_rettype(fcinfo->flinfo);
  if (!may_set_role(GetUserId(), owner))
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("permission denied to set role \"%s\"", GetUserNameFromId(owner, false)));
  // The owner of a table with forced row-level security reads it as another caller with rights.
  constexpr int kRestricted =
      SECURITY_LOCAL_USERID_CHANGE | SECURITY_RESTRICTED_OPERATION | SECURITY_NOFORCE_RLS;
  const Caller caller = role_enter(owner, owner == GetUserId() ? 0 : kRestricted);
  SPI_connect();
  const int result = SPI_execute(statement, false, 0);
  if (result < 0)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot run a statement of this kind: %s", SPI_result_code_string(result)));
  bool is_null = true;
  Datum selected = Datum{0};
  if (result == SPI_OK_SELECT && SPI_processed == 1 &&
      SPI_gettypeid(SPI_tuptable->tupdesc, 1) == kind)
    selected = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null);
  if (!is_null) selected = SPI_datumTransfer(selected, get_typbyval(kind), get_typlen(kind));
  SPI_finish();
  role_leave(caller);
  if (is_null) PG_RETURN_NULL();
  PG_RETURN_DATUM(selected);
}

SNOWID_FUNCTION(snowid_source_of_expression) {
  Source source = source_of(tree_arg(fcinfo, 0));
  Datum values[] = {Int64GetDatum(source.shard), PointerGetDatum(&source.layout)};
  bool nulls[] = {!source.has_shard, !source.has_layout};
  return row_datum(fcinfo, values, nulls);
}

SNOWID_FUNCTION(snowid_is_check_of_uuidv7) {
  PG_RETURN_BOOL(is_check_of_uuidv7(tree_arg(fcinfo, 0), PG_GETARG_INT16(1)));
}

SNOWID_FUNCTION(snowid_is_plain) { PG_RETURN_BOOL(!has_code(tree_arg(fcinfo, 0), nullptr)); }

SNOWID_FUNCTION(snowid_reads_row) { PG_RETURN_BOOL(reads_row(tree_arg(fcinfo, 0), nullptr)); }

}  // namespace snowid::pg
