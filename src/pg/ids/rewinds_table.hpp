// The table snowid.rewinds: which times were wild, durably. A dump carries it, since the rows of a
// restored database may have such IDs.
//
// Shared: the table alone.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Whether this transaction has inserted rows by other means than rewinds_insert(), as a restore
// does, and nobody has read them since.
extern bool rewinds_inserted;

// What the rows say, as they are now. Then rewinds_inserted is false. Fails with 55000 where there
// is no such table.
core::WildTimes rewinds_read();

// Inserts a row. Fails as rewinds_read() does.
void rewinds_insert(const core::Wild& wild);

}  // namespace snowid::pg
