// Planner support for ranges of time: what the body of snowid_in_range() alone cannot do.
//
// The planner inlines that function to comparisons of the ID, and an index on the ID serves if the
// bounds hold for the whole scan. Those of a volatile moment, such as clock_timestamp(), do not: it
// would be evaluated for each row. Therefore such a moment becomes a scalar subquery, as if it had
// been written (SELECT clock_timestamp()), which the executor evaluates once. The planner does the
// rest: with no volatile moment in it the call is inlined as any other, with its checks of rights
// and the dependency of the plan.
#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

// Whether an expression has a part that may not be evaluated in a query of its own: what refers to
// rows or subqueries, and all that is not known here. A walker of expressions.
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

// (SELECT expression)
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

// Whether subqueries that are put into an expression now will be planned: it is one of the query's
// own, which are simplified before their subqueries are planned and before its relations are set
// up. Its rows tell it from expressions that are simplified for a query around theirs.
bool takes_subqueries(const PlannerInfo* root, const FuncExpr* call) {
  return root != nullptr && root->parse != nullptr && root->simple_rel_array == nullptr &&
         contain_var_clause(static_cast<Node*>(linitial(call->args)));
}

// The call with a subquery in place of each volatile moment; nullptr if it has none that may be.
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

}  // namespace snowid::pg

using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_in_range_support);

// in_range_support(internal) → internal. For functions whose moments are their arguments of type
// timestamptz, and whose first argument is the key.
Datum snowid_in_range_support(PG_FUNCTION_ARGS) {
  Node* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestSimplify)) PG_RETURN_POINTER(nullptr);
  const auto* simplify = reinterpret_cast<SupportRequestSimplify*>(request);
  if (!takes_subqueries(simplify->root, simplify->fcall)) PG_RETURN_POINTER(nullptr);
  Node* changed = with_subqueries(simplify->fcall);
  if (changed == nullptr) PG_RETURN_POINTER(nullptr);
  simplify->root->parse->hasSubLinks = true;
  PG_RETURN_POINTER(eval_const_expressions(simplify->root, changed));
}
}
