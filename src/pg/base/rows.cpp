// Answering the planner. See rows.hpp.
#include "pg/base/rows.hpp"

#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

bool rows_of_batch(Const* const* arguments, int count, double* rows) {
  const int32 wanted = DatumGetInt32(arguments[count == 1 ? 0 : 1]->constvalue);
  *rows = wanted;
  return wanted >= 0;
}

}  // namespace

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

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_batch_support);

// Planner support of functions of (count), or (anything, count, …).
Datum snowid_batch_support(PG_FUNCTION_ARGS) {
  return answer_rows(PG_GETARG_POINTER(0), rows_of_batch);
}
}
