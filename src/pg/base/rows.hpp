// What the planner is told of how many rows a set-returning function gives. Nothing here is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Tells the rows of a call from its arguments, all of them constants and none null. False where the
// call will fail, which the planner need not know.
using RowsOf = bool (*)(Const* const* arguments, double* rows);

// Answers the planner's question for the number of rows, which is what a support function gets as
// its argument; any other is left unanswered.
Datum answer_rows(void* asked, RowsOf rows_of);

}  // namespace snowid::pg
