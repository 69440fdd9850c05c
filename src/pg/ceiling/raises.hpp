// How often the ceiling is raised, and how hard that is: counted, and told to the log.
//
// Shared: RaiseCounts of state.hpp, atomics that no promise rests on.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The ceiling was raised. Somebody has waited since `since` for its WAL to be flushed here and on
// standbys. Never fail; they may be called with Ceiling::lock held.
void NoteRaise();
void NoteFlush(instr_time since);

// Tells the log if that took this session over a second. No LWLock may be held.
void log_slow_flush();

}  // namespace snowid::pg
