// What a column must be for snowid_adopt(): the refusals, with what the user can do. Reads
// catalogs; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Fails where this user may not alter the relation, or it is none whose columns can draw IDs: with
// 42P01 where there is none, with 42809 where it is something else than a table, a foreign table
// for one, with 42501 where it is a catalog or another's, with 0A000 where it is another session's
// temporary one. Needs no lock.
void require_own_table(Oid relid);

// Fails where the column cannot draw IDs: with 42703 where there is none, with 42P16 where its
// parent or partitioned table has it, with 42611 where it is generated, with 42804 where it is no
// bigint, or where a narrower column refers to it, and says what widens them. has_time: false where
// looking for those that refer to it takes too long. The table must be locked.
void require_wide_column(Oid relid, const char* column, bool has_time);

}  // namespace snowid::pg
