// Counting how often the ceiling is raised and how long its WAL takes to be flushed, and logging
// slow flushes.
//
// Shared: RaiseCounts of state.hpp, atomics that no promise rests on.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// NoteRaise() counts that the ceiling was raised, NoteFlush() that this session has waited since
// `since` for its WAL to be flushed here and on standbys. Neither fails; they may be called with
// Ceiling::lock held.
void NoteRaise();
void NoteFlush(instr_time since);

// Logs it if such a wait took this session over a second. No LWLock may be held.
void log_slow_flush();

}  // namespace snowid::pg
