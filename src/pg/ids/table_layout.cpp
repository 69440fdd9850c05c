// Reads a table's defaults as expression trees. Also the SQL function that returns the shard and
// layout of an expression stored in a catalog, an argument of type pg_node_tree, whose values only
// PostgreSQL makes. Nothing is evaluated.
#include "pg/ids/table_layout.hpp"

#include "pg/catalog_table.hpp"
#include "pg/values.hpp"

extern "C" {
#include "access/tupdesc.h"
#include "catalog/pg_type.h"
#include "parser/parse_coerce.h"
#include "utils/fmgroids.h"
}

namespace snowid::pg {

namespace {

bool calls(Node* node, const char* function) {
  return node != nullptr && IsA(node, FuncExpr) &&
         is_own_function(castNode(FuncExpr, node)->funcid, function);
}

// The arguments of a call of snowid_next() or snowid_reserve(), by their types, because named ones
// may be in any order.
struct Arguments {
  Node* shard;      // nullptr if omitted
  bool has_layout;  // false if the layout is not a constant
  core::LayoutSpec layout;
};

Arguments arguments_of(const FuncExpr* call) {
  Arguments of{nullptr, true, core::kInstagram.spec};
  ListCell* cell;
  foreach (cell, call->args) {
    auto* argument = static_cast<Node*>(lfirst(cell));
    if (IsA(argument, NamedArgExpr))
      argument = reinterpret_cast<Node*>(castNode(NamedArgExpr, argument)->arg);
    const Oid type = exprType(argument);
    if (type == INT8OID) of.shard = argument;
    if (type == INT8OID || type == INT4OID) continue;
    const auto* layout = reinterpret_cast<const Const*>(argument);
    of.has_layout = IsA(argument, Const) && !layout->constisnull;
    if (of.has_layout)
      of.layout = *reinterpret_cast<const core::LayoutSpec*>(DatumGetPointer(layout->constvalue));
  }
  return of;
}

// Returns false if the shard is not a constant, or not a shard.
bool read_constant_shard(Node* argument, int64* shard) {
  if (IsA(argument, FuncExpr) && castNode(FuncExpr, argument)->funcid == F_INT8_INT4)
    argument = static_cast<Node*>(linitial(castNode(FuncExpr, argument)->args));
  const auto* value = reinterpret_cast<const Const*>(argument);
  if (!IsA(argument, Const) || value->constisnull) return false;
  *shard = value->consttype == INT4OID ? DatumGetInt32(value->constvalue)
                                       : DatumGetInt64(value->constvalue);
  return *shard >= 0;
}

// A walker for expression_tree_walker(). found: a DefaultLayout.
bool find_makers(Node* node, void* found) {
  if (node == nullptr) return false;
  auto* layout = static_cast<DefaultLayout*>(found);
  const auto* call = reinterpret_cast<FuncExpr*>(node);
  if (calls(node, "snowid_next") || calls(node, "snowid_reserve")) {
    const Arguments of = arguments_of(call);
    layout->is_mixed |= !of.has_layout || (layout->has_layout && !(layout->layout == of.layout));
    layout->has_layout = true;
    layout->layout = of.layout;
    return false;
  }
  if (IsA(node, NextValueExpr) || (IsA(node, FuncExpr) && func_volatile(call->funcid) != 'i'))
    layout->is_other = true;
  return walk_expression(node, find_makers, found);
}

Node* own_default(TupleDesc columns, AttrNumber number) {
  const TupleConstr* constraints = columns->constr;
  for (int i = 0; constraints != nullptr && i < constraints->num_defval; i++)
    if (constraints->defval[i].adnum == number)
      return static_cast<Node*>(stringToNode(constraints->defval[i].adbin));
  return nullptr;
}

}  // namespace

void default_layout_add(Oid relid, DefaultLayout* layout) {
  Relation relation = RelationIdGetRelation(relid);
  if (relation == nullptr) return;
  // A copy, because nothing is locked: each catalog access may process invalidations.
  TupleDesc columns = CreateTupleDescCopyConstr(RelationGetDescr(relation));
  RelationClose(relation);
  for (AttrNumber number = 1; number <= columns->natts; number++) {
    const FormData_pg_attribute& column = *TupleDescAttr(columns, number - 1);
    if (column.attisdropped || column.attgenerated != '\0') continue;
    // bigint, snowid, and domains over them.
    if (!IsBinaryCoercible(column.atttypid, INT8OID)) continue;
    if (column.attidentity != '\0') layout->is_other = true;
    // The default of a domain is not in the column.
    Node* expression =
        column.atthasdef ? own_default(columns, number) : get_typdefault(column.atttypid);
    find_makers(expression, layout);
  }
  FreeTupleDesc(columns);
}

SNOWID_FUNCTION(snowid_source_of_expression) {
  auto* tree = static_cast<Node*>(stringToNode(TextDatumGetCString(PG_GETARG_DATUM(0))));
  tree = strip_implicit_coercions(tree);
  Arguments of{};
  if (calls(tree, "snowid_next")) of = arguments_of(castNode(FuncExpr, tree));
  int64 shard = 0;
  const bool is_default = of.shard == nullptr || calls(of.shard, "snowid_default_shard");
  const bool is_known = of.has_layout && (is_default || read_constant_shard(of.shard, &shard));
  Datum values[] = {Int64GetDatum(shard), PointerGetDatum(&of.layout)};
  bool nulls[] = {!is_known || is_default, !is_known};
  return row_datum(fcinfo, values, nulls);
}

}  // namespace snowid::pg
