// Trying what may fail, and going on. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Calls `step` in a subtransaction, in the caller's memory context. Returns nullptr; or the error
// that the subtransaction was rolled back for, in the same context, which the caller raises or
// forgets. No LWLock may be held, since an error releases all of them. Not for parallel queries,
// where PostgreSQL up to 16 allows no subtransactions.
ErrorData* try_in_subtransaction(void (*step)(void* argument), void* argument);

}  // namespace snowid::pg
