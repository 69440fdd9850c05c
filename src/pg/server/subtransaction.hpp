// Trying what may fail, and going on. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Takes a step in a subtransaction, in the caller's memory context and with its resource owner.
// Returns nullptr, or the error that it has been rolled back for, which is the caller's to raise or
// to forget. No LWLock may be held: an error lets go of all.
ErrorData* try_in_subtransaction(void (*step)(void* argument), void* argument);

}  // namespace snowid::pg
