// Central sources: sequences on other servers that blocks are allocated from, over
// server/remote.hpp, with the rights of the owner of the sequence here. The table
// snowid.segment_sources says which sequences have one.
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
};

// Blocks allocated at once, each `increment` after the one before.
struct CentralBlocks {
  int64 first;
  int64 blocks;
  int64 increment;
  int64 max;  // of the sequence there
};

// Fails as require_sequence() does, and with 42501 where the user does not own the sequence.
void require_own_sequence(Oid relid);

// Opens the table in AccessShareLock. Fails with 55000 where there is none.
Relation central_open_table();

// Sets *source to the source of a sequence, in the caller's memory context; source->server is
// nullptr where it has none. Fails as central_open_table() does, and with 55000 where the table was
// altered.
void central_find(Oid relid, CentralSource* source);

// Whether owner and server are the ones that they were when the sequence was attached. If not,
// nobody has agreed that blocks are allocated with the present owner's rights.
bool central_is_as_attached(const CentralSource& source);

// The SQLSTATE of what was changed: 42501 for the owner, 55000 for another server of that name,
// 42704 for none. And reports it.
int central_changed_sqlstate(const CentralSource& source);
[[noreturn]] void central_report_changed(const CentralSource& source);

// Allocates 1 to `blocks` blocks durably, none of which begins above `max` there. The source is as
// it was attached. Returns and fails as remote_run() does; the error has been explained.
ErrorData* central_allocate(const CentralSource& source, uint64 blocks, CentralBlocks* allocated);

// 08006. why: the error of this try, or nullptr where the source was not tried, because it failed a
// moment ago.
[[noreturn]] void central_report_down(const CentralSource& source, const ErrorData* why);

}  // namespace snowid::pg
