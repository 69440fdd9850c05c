// The extension's own relations and functions, found through the extension, not search_path: any
// role may create one of the same name. C code reads the tables directly, whatever the caller's
// rights and isolation level, as PostgreSQL reads its catalogs, and stores rows by SQL.
//
// In the order of use: own_table_open(), own_key_of() and require_no_null() by readers;
// own_table_execute(). Triggers of tables that describe this server call require_own_trigger(),
// which keeps logical replication from changing their rows. Also snowid.execute(), for user tables.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/htup.h"
#include "commands/trigger.h"
#include "storage/lock.h"
}

namespace snowid::pg {

inline constexpr char kExtensionName[] = "snowid";
// Its tables and sequences. PUBLIC has no USAGE: locking one by name would block all IDs.
inline constexpr char kInternalSchemaName[] = "snowid_internal";

bool belongs_to(Oid catalog, Oid object, const char* name);

// Keeps an extension and its objects from being dropped or replaced until `lock` is released or the
// transaction ends. Returns false if there is none, or, without `waits`, it is being dropped.
bool extension_keep(const char* name, bool waits, LOCKTAG* lock);

// The relation in snowid_internal, or InvalidOid.
Oid extension_relation(const char* name);

// Whatever its schema.
bool is_own_relation(Oid relid);

// Whether the extension has this C function, under this name. Its owner can add functions with any
// arguments, but only superusers create C functions.
bool is_own_function(Oid function, const char* name);

// The function in snowid_internal written in SQL or PL/pgSQL. Raises: 55000 if it is missing.
Oid own_function(const char* name, int count, const Oid* types);

// A copy of the first row of a catalog with this OID in a column, by an index on it, or
// InvalidOid; nullptr if there is none. Ignores the caller's snapshot.
HeapTuple catalog_row(Oid catalog, Oid index, AttrNumber column, Oid oid);

// Schema-qualified and quoted. Requires: the relation exists.
const char* qualified_name(Oid relid);

// Requires: the relation exists.
Oid relation_owner(Oid relid);

// A table as created by CREATE EXTENSION.
struct OwnTable {
  const char* name;       // in snowid_internal
  const Oid* types;       // of its columns; InvalidOid for a type of snowid
  int columns;            // number of columns
  int16 own_type_length;  // in bytes, of snowid's type; 0 if unused
  int nullable;           // number of the nullable column, 0 for none
};

// Opens a relation of snowid_internal. Raises: 55000 if it is missing.
Relation own_relation_open(const char* name, LOCKMODE lock);

// Raises: 55000 if the table is missing or was altered.
Relation own_table_open(const OwnTable& table, LOCKMODE lock);

// Raises: 55000, with the remedy as hint, if it is not a permanent heap with these columns.
void require_as_made(Relation relation, const OwnTable& table);

// Whether a new snapshot sees a row.
bool has_row(Relation table);

// The primary key's index, or InvalidOid if it does not begin with the first column.
Oid own_key_of(Relation relation);

// Raises: 55000 if the row has a null in a NOT NULL column, because the table may lack the
// constraint. C code must call this before it uses a row.
void require_no_null(Relation relation, const OwnTable& table, HeapTuple row);

// Runs a statement as the table's owner, with a search_path of pg_catalog, on the current rows even
// in a REPEATABLE READ transaction. Requires: the table's name is qualified. Returns the number of
// rows changed, possibly other ones (rules, triggers). Raises: 55000 if the table is missing.
uint64 own_table_execute(const char* table, const char* statement, int count, Oid* types,
                         Datum* values, const char* nulls);

// Raises: 55000 because the table does not contain what was stored.
[[noreturn]] void report_not_stored(const char* table);

// Raises: 55000 if a relation of snowid_internal is not a permanent sequence: a crash would reset
// it. loss: what would follow, a sentence.
void require_permanent_sequence(Relation relation, const char* loss);

// The trigger calling this trigger function: BEFORE, for each row of a table of snowid. Raises:
// 39P01 if the call is any other one, so any role may make it; 0A000, with this hint, for TRUNCATE,
// because replication would truncate this server's rows.
const TriggerData* require_own_trigger(FunctionCallInfo fcinfo, const char* truncate_hint);

HeapTuple row_of(const TriggerData* trigger);

}  // namespace snowid::pg
