// Counting how often the ceiling is raised and how long its WAL takes to be flushed, and logging
// slow flushes.
//
// Shared: RaiseCounts of state.hpp, atomics that no promise rests on.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// note_raise() counts that the ceiling was raised, note_flush() that this session has waited since
// `since` for its WAL to be flushed here and on standbys. Neither fails; they may be called with
// Ceiling::lock held.
void note_raise() noexcept;
void note_flush(instr_time since) noexcept;

// Logs it if such a wait took this session over a second. No LWLock may be held.
void log_slow_flush();

}  // namespace snowid::pg
