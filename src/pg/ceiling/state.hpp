// The stand-in: the ceiling of a transaction that has made the ceiling's sequence itself, which
// other sessions do not see yet. All others share the ceiling of the database's entry
// (database/entry.hpp).
#pragma once

#include "pg/database/database.hpp"

namespace snowid::pg {

bool has_stand_in() noexcept;

// Sets `my_ceiling` to the session's stand-in (true) or to the shared ceiling (false). A stand-in
// begins as the shared one is, durable in no sequence. With it a transaction that has made the
// ceiling's sequence anew can issue IDs, and others do not see a ceiling that may yet be rolled
// back. For ceiling_learn() alone. No lock of a ceiling may be held.
void use_stand_in(bool wanted);

}  // namespace snowid::pg
