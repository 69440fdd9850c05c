// Central sources: sequences of other servers that blocks are bought from, over dblink. Which
// sequence has one is said by the table snowid.segment_sources. A session connects for each
// purchase, as the owner of the sequence, and keeps no connection.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// A row of the table.
struct CentralSource {
  Oid owner;           // of the sequence here
  const char* server;  // the foreign server's name, nullptr where there is no row
  const char* remote;  // the sequence there, as written for regclass
};

// Blocks bought at once, each `increment` after the one before.
struct CentralBlocks {
  int64 first;
  int64 blocks;
  int64 increment;
  int64 max;  // of the sequence there
};

// Sets *source to that of the sequence, in the caller's memory context.
void central_find(Oid relid, CentralSource* source);

// Buys up to so many blocks, and at least one, durably. Returns nullptr, or the error, which has
// been rolled back; but one that cancels the query is raised.
ErrorData* central_buy(const CentralSource& source, uint64 blocks, CentralBlocks* bought);

// An option of a foreign server, nullptr where it has none of this name.
const char* central_option(Oid server, const char* name);

// Whether the error says that the server cannot be reached, or does not answer in time.
bool IsUnreachable(const ErrorData* error);

// 08006. why: the error that it was just tried with, or nullptr where it was a moment ago.
[[noreturn]] void central_report_down(const CentralSource& source, const ErrorData* why);

}  // namespace snowid::pg
