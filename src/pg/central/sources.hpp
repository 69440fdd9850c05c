// The table snowid_internal.segment_sources, which has a row for each sequence with a central
// source. Nothing is shared but the table.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

inline constexpr char kSourcesTable[] = "segment_sources";

// A row of the table.
struct CentralSource {
  Oid relid;           // the sequence here
  Oid owner;           // the role that owned it when it was attached
  Oid server_oid;      // the foreign server that it was attached to, InvalidOid where that is gone
  const char* server;  // its name, nullptr where there is no row
  const char* remote;  // the sequence there, as written for regclass
  const char* identity;  // which one it was when it was attached, see allocate.cpp
};

// Sets *source to the source of a sequence, in the caller's memory context; source->server is
// nullptr where it has none. Fails with 55000 where the table is missing or was altered.
void central_find(Oid relid, CentralSource* source);

}  // namespace snowid::pg
