// A transaction that replaces the ceiling's sequence, or its storage, may be rolled back, or a
// subtransaction of it. Then the earlier storage counts again. IDs that the client has seen by then
// must not come again, so the ceiling is raised in that storage as well.
//
// Shared: the pages of that storage. The transaction has locked each of these relations to replace
// or drop it, until it ends, so nobody else writes there.
#pragma once

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

// The sequence that the ceiling is durable in, as the shared entry has it: InvalidOid and 0 where
// it has none.
struct KnownCeiling {
  Oid relid;
  FileNumber file;
};

// The ends of WAL records, which are not flushed yet; InvalidXLogRecPtr where there is none. And
// wild times, if any of that storage has some.
struct RaisedStorage {
  XLogRecPtr last;   // of the last one
  XLogRecPtr known;  // of the one that has raised the storage in the shared entry
  core::WildTimes wild;
};

// Raises the ceiling to `target` in all storage that this transaction has replaced or dropped: of
// the present sequence, and of the one in the shared entry. relation: the present sequence, made or
// given its storage by this transaction.
RaisedStorage raise_earlier_storage(Relation relation, KnownCeiling known, core::UnixMillis target);

}  // namespace snowid::pg
