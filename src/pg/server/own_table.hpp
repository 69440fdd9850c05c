// The extension's own relations that C code reads and changes directly. No right on them, no
// trigger, no rule and no isolation level of the caller makes a difference to that.
//
// Rows of some of these tables are about this server. Triggers guard them: logical replication
// brings no rows to them, and removes none. Nothing is shared but the relations.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// A table as CREATE EXTENSION has made it.
struct OwnTable {
  const char* name;  // in the extension's own schema
  const Oid* types;  // of its columns, in their order; InvalidOid where it is a type of snowid's
  int columns;
  int16 own_type_length;  // in bytes, of those; 0 where there are none
};

// Opens it. Fails with 55000 where there is none, or it is not as it was made: a heap, with these
// columns.
Relation own_table_open(const OwnTable& table, LOCKMODE lock);

// Checks a relation that the caller has opened. Fails with 55000 where it is not as it was made.
void require_as_made(Relation relation, const OwnTable& table);

// Opens a permanent sequence of the extension's own schema. Fails with 55000 where there is none,
// or it is something else.
Relation own_sequence_open(const char* name, LOCKMODE lock);

// The trigger that has called a trigger function of snowid: one BEFORE each row of a table of its
// own. Fails with 39P01 where it was called in any other way, so it may be called by anybody; and
// with 0A000, and this hint, by one BEFORE TRUNCATE, which replication would do to this server's
// rows, too. function: its name in the extension's own schema.
const TriggerData* require_own_trigger(FunctionCallInfo fcinfo, const char* function,
                                       const char* truncate_hint);

// The same, of a table whose rows are only inserted: fails with 0A000 where one is updated or
// deleted, too. Returns nullptr where logical replication does so, whose rows are to be skipped.
const TriggerData* require_own_insertion(FunctionCallInfo fcinfo, const char* function,
                                         const char* hint);

// What a BEFORE trigger returns to have the row stored, or deleted, as it is.
HeapTuple row_of(const TriggerData* trigger);

}  // namespace snowid::pg
