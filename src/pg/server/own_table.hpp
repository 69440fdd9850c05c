// The extension's own relations that C code reads and changes directly, whatever the caller's
// rights and isolation level.
//
// Rows of some of these tables are about this server. Triggers guard them: logical replication
// brings no rows to them, and removes none. Nothing is shared but the relations.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// A table as CREATE EXTENSION has made it.
struct OwnTable {
  const char* name;       // in the extension's own schema
  const Oid* types;       // of its columns, in their order; InvalidOid where it is one of snowid's
  int columns;            // how many it has
  int16 own_type_length;  // in bytes, of snowid's type; 0 where there is none
  int nullable;           // the number of the column that may be null, 0 for none
  int key_columns;        // how many the primary key has, which are the first ones
  int checks;             // how many CHECK constraints it has
  const char* trigger;    // the name of the trigger on each row, and of its function
};

// Opens a table. Raises 55000 if there is none, or if it is not as it was made: see below.
Relation own_table_open(const OwnTable& table, LOCKMODE lock);

// Checks a table that the caller has opened with `lock`, or a stronger one. To read, it must be a
// permanent heap with these columns. C code stores rows as PostgreSQL does in its catalogs, which
// heeds no constraint, no expression of an index, no trigger, and no rule. Therefore to write,
// RowExclusiveLock or stronger, the table must have those of the script and no others. Raises 55000
// if not; the hint says how to undo the change.
void require_as_made(Relation relation, const OwnTable& table, LOCKMODE lock);

// The index of the primary key, InvalidOid if it was dropped or replaced.
Oid own_key_of(Relation relation, const OwnTable& table);

// Raises 55000 if a column of a row is null that CREATE EXTENSION has made NOT NULL. Required
// before C code uses what it has read: a table that is only read may lack the constraint.
void require_no_null(Relation relation, const OwnTable& table, HeapTuple row);

// A new row. It has values for the columns of `table`, and nulls for columns that were added and
// dropped.
HeapTuple own_row_form(Relation relation, const OwnTable& table, const Datum* values,
                       const bool* nulls);

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
