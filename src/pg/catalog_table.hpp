// The extension's own relations and functions, found by the extension and not by search_path:
// anybody may make one of the same name. Whatever the caller's rights and isolation level, C code
// reads the tables directly, as PostgreSQL reads its catalogs, and stores rows by SQL.
//
// In the order of use: own_table_open() finds a table by extension_relation() and checks it;
// own_key_of() and require_no_null() are for its readers; own_table_execute() changes it. Rows of
// some of these tables are about this server. Their triggers call require_own_trigger(), which
// keeps logical replication from adding or removing rows.
//
// Nothing is shared but the relations.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/htup.h"
#include "commands/trigger.h"
#include "storage/lock.h"
}

namespace snowid::pg {

inline constexpr char kExtensionName[] = "snowid";
// The schema of its tables and sequences, in which PUBLIC has no USAGE: a lock that anybody may
// take by a relation's name, and keep, would stop all IDs.
inline constexpr char kInternalSchemaName[] = "snowid_internal";

// Whether an object, by its catalog and OID, belongs to the extension of this name.
bool belongs_to(Oid catalog, Oid object, const char* name);

// Keeps an extension from being dropped, until `lock` is released or the transaction has ended. Who
// may drop it could otherwise, at any moment, have objects of his own under the names of its
// objects. Returns false if it is not there; also, unless `waits`, if somebody is dropping it.
bool extension_keep(const char* name, bool waits, LOCKTAG* lock);

// A relation in the extension's own schema by its name, InvalidOid if there is none.
Oid extension_relation(const char* name);

// Whether a relation is one of the extension's, wherever it may have been moved to.
bool is_own_relation(Oid relid);

// Whether a function is one of the extension's in C, of this name. The extension's owner, who may
// be the database's, can add functions to it, whose arguments are of any type. Only superusers have
// functions in C.
bool is_own_function(Oid function, const char* name);

// The name of a relation, which must exist, with its schema: quoted, as SQL has it.
const char* qualified_name(Oid relid);

// The owner of a relation, which must exist.
Oid relation_owner(Oid relid);

// A table as CREATE EXTENSION has made it.
struct OwnTable {
  const char* name;       // in the extension's own schema
  const Oid* types;       // of its columns, in their order; InvalidOid if it is one of snowid's
  int columns;            // how many it has
  int16 own_type_length;  // in bytes, of snowid's type; 0 if there is none
  int nullable;           // the number of the column that may be null, 0 for none
};

// Opens a relation of the extension's own schema. Raises: 55000 if there is none of this name.
Relation own_relation_open(const char* name, LOCKMODE lock);

// Opens a table to read it. Raises: 55000 if there is none, or if it is not as it was made.
Relation own_table_open(const OwnTable& table, LOCKMODE lock);

// Checks a table that the caller has opened. It must be a permanent heap with these columns.
// Raises: 55000 if not, with a hint how to undo the change.
void require_as_made(Relation relation, const OwnTable& table);

// Whether an open table has a row that is visible now, whatever the caller's snapshot.
bool has_row(Relation table);

// The index of the primary key, InvalidOid if there is none that begins with the first column.
Oid own_key_of(Relation relation);

// Raises 55000 if a column of a row is null that CREATE EXTENSION has made NOT NULL. Required
// before C code uses what it has read: the table may lack the constraint.
void require_no_null(Relation relation, const OwnTable& table, HeapTuple row);

// Runs a statement that changes a table, as the table's owner, with a search_path of pg_catalog, on
// the current rows, even in a REPEATABLE READ transaction, whose snapshot may be older. The
// statement names the table with its schema. Returns how many rows it has changed: a rule or
// trigger added by a superuser may change other rows, or none. Raises: 55000 if the table is
// missing.
uint64 own_table_execute(const char* table, const char* statement, int count, Oid* types,
                         Datum* values, const char* nulls);

// Raises 55000: the table does not have what was stored in it.
[[noreturn]] void report_not_stored(const char* table);

// Opens a permanent sequence of the extension's own schema. Raises: 55000 if there is none, or if
// it is something else.
Relation own_sequence_open(const char* name, LOCKMODE lock);

// The trigger that has called a trigger function of snowid: one BEFORE each row of a table of its
// own. function: its name in the extension's own schema.
// Raises: 39P01 if it was called in any other way, so anybody may call it; 0A000, with this hint,
// for TRUNCATE, which replication would do to this server's rows, too.
const TriggerData* require_own_trigger(FunctionCallInfo fcinfo, const char* function,
                                       const char* truncate_hint);

// The row that a BEFORE trigger returns to have it stored, or deleted, unchanged.
HeapTuple row_of(const TriggerData* trigger);

}  // namespace snowid::pg
