// The greatest key of a column, read in a moment: by an index. Nothing is shared but the tables.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Reads the greatest value of a column of bigints, or of a domain over them, among all rows of a
// table that are committed now or this transaction's own, whatever the snapshot of the statement
// and the policies of the table are. False where there is none. The table must be locked, and have
// a storage. Fails with 55000 where no index tells and the table is too big to be read in a moment.
bool greatest_key(Oid relid, const char* column, int64* key);

}  // namespace snowid::pg
