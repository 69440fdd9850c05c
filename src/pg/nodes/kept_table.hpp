// Tables of the extension's own that C code reads and changes by itself: no right on them, no
// trigger, no rule and no isolation level of the caller's makes a difference. Nothing is shared but
// the tables.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// A table as CREATE EXTENSION has made it.
struct KeptTable {
  const char* name;  // in the extension's own schema
  const Oid* types;  // of its columns, in their order
  int columns;
};

// Opens it. Fails with 55000 where there is none, or its columns are others.
Relation kept_table_open(const KeptTable& table, LOCKMODE lock);

// A permanent sequence of the extension's own schema. Fails with 55000 where there is none, or it
// is something else.
Relation kept_sequence_open(const char* name, LOCKMODE lock);

}  // namespace snowid::pg
