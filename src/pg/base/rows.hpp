// Estimates for the planner of how many rows a set-returning function returns. Nothing here is
// shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Sets *rows to the number of rows of a call, from its arguments, `count` constants of which none
// is null. Returns false where the call will fail; then the planner gets no estimate.
using RowsOf = bool (*)(Const* const* arguments, int count, double* rows);

// Answers the planner's question for the number of rows, which is what a support function gets as
// its argument; any other is left unanswered.
Datum answer_rows(void* asked, RowsOf rows_of);

}  // namespace snowid::pg
