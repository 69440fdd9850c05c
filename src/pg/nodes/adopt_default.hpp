// The default that snowid_adopt() gives a column: a call of snowid_next(). Reads catalogs; nothing
// is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// What the column's IDs are drawn from.
struct NextCall {
  core::LayoutSpec layout;
  bool has_shard;  // false for the shard of snowid_default_shard()
  int64 shard;
};

// The call as SQL, in the form in which PostgreSQL prints it where the extension's schema is not in
// search_path; in the current memory context. Its arguments have the exact types, so it is a call
// of the extension's function whatever else has that name.
const char* sql_of(const NextCall& call);

// Whether a table's column is no identity, and its default is this call, by functions of the
// extension's own, however it is written. The table must be locked.
bool column_draws(Oid relid, const char* column, const NextCall& call);

}  // namespace snowid::pg
