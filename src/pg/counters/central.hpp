// Central sources: sequences of other servers that blocks are allocated from, see
// server/remote.hpp. Which sequence has one is said by the table snowid.segment_sources. What is
// allocated is allocated as the owner of the sequence here.
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

// Fails as require_sequence() does, and with 42501 where it is not the user's own.
void require_own_sequence(Oid relid);

// Opens the table, with a lock to read it. Fails with 55000 where there is none.
Relation central_open_table();

// Sets *source to that of the sequence, in the caller's memory context. Fails as
// central_open_table() does.
void central_find(Oid relid, CentralSource* source);

// Whether the sequence's owner and its source are who they were when it was attached. Blocks are
// allocated with the owner's rights, which nobody else has given.
bool central_is_as_attached(const CentralSource& source);

// Reports that they are not: 42704, 55000 or 42501.
[[noreturn]] void central_report_changed(const CentralSource& source);

// Allocates up to so many blocks, and at least one, durably; none of them is above `max` there. The
// source is as it was attached. Returns nullptr, or the error, which has been rolled back; but one
// that cancels the query is raised.
ErrorData* central_allocate(const CentralSource& source, uint64 blocks, CentralBlocks* allocated);

// 08006. why: the error that it was just tried with, or nullptr where it was a moment ago.
[[noreturn]] void central_report_down(const CentralSource& source, const ErrorData* why);

}  // namespace snowid::pg
