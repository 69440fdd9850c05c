// Tables of the extension's own whose rows are about this server: triggers guard them, and
// replication brings them nothing and takes nothing from them. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The trigger that has called a trigger function of snowid: one BEFORE each row of a table of its
// own. Fails with 39P01 where it was called in any other way, so it may be called by anybody; and
// with 0A000, and this hint, by one BEFORE TRUNCATE, which replication would do to this server's
// rows, too. function: its name in the extension's own schema.
const TriggerData* require_own_trigger(FunctionCallInfo fcinfo, const char* function,
                                       const char* truncate_hint);

// What a BEFORE trigger returns to have the row stored, or deleted, as it is.
HeapTuple row_of(const TriggerData* trigger);

}  // namespace snowid::pg
