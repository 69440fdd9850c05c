// What the catalogs say about a sequence that snowid draws numbers from. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Fails with 42P01 where there is no such relation, with 42809 where it is not a sequence, or is
// one that the extension keeps its own state in, such as the ceiling.
void require_sequence(Oid relid);

// Fails as require_sequence() does, and with 42501 where the user does not own the sequence.
void require_own_sequence(Oid relid);

// The options of a sequence that snowid goes by.
struct SequenceOptions {
  int64 increment;
  int64 max;
};

// Fails with 55000 where the sequence cycles, since numbers would repeat, or counts down.
SequenceOptions sequence_options(Oid relid);

}  // namespace snowid::pg
