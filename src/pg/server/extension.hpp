// The extension's own objects, found by the extension and not by search_path: anybody may make a
// relation of the same name. Reads catalogs; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

inline constexpr char kExtensionName[] = "snowid";
// The schema of its tables and sequences, in which PUBLIC has no USAGE: a lock that anybody may
// take by a relation's name, and keep, would stop all IDs.
inline constexpr char kInternalSchemaName[] = "snowid_internal";

// The schema of an extension, InvalidOid where there is none of this oid.
Oid extension_schema(Oid extension);

// A relation in the extension's own schema by its name, InvalidOid where there is none.
Oid extension_relation(const char* name);

// Whether a relation is one of the extension's, wherever it may have been moved to.
bool is_own_relation(Oid relid);

// Whether a function is one of the extension's, of this name.
bool is_own_function(Oid function, const char* name);

// The name of a relation, which must exist, with its schema: quoted, as SQL has it.
const char* qualified_name(Oid relid);

// The owner of a relation, which must exist.
Oid relation_owner(Oid relid);

}  // namespace snowid::pg
