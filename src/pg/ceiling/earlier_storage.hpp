// What a transaction that has replaced the ceiling's sequence, or its storage, goes back to if it
// or a part of it is rolled back. IDs that it has shown to its client by then must not come again,
// so whatever it may go back to is raised as well.
//
// Shared: the pages of that storage. Until the transaction ends it has the lock on each of these
// relations that it took to replace or drop them, so nobody else writes there.
#pragma once

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

// The sequence that the ceiling is durable in, as others know it: InvalidOid and 0 where nobody
// does.
struct KnownCeiling {
  Oid relid;
  FileNumber file;
};

// The ends of WAL records, which are not flushed yet; InvalidXLogRecPtr where there is none. And
// wild times, if any of that storage has some.
struct RaisedStorage {
  XLogRecPtr last;   // of the last one
  XLogRecPtr known;  // of the one that has raised what others know
  core::WildTimes wild;
};

// Raises to `target` what is below it of the storage that this transaction has replaced or dropped:
// of the sequence as it is, and of the one that others know. relation: the sequence as it is, made
// or given its storage by this transaction.
RaisedStorage raise_earlier_storage(Relation relation, KnownCeiling known, core::UnixMillis target);

}  // namespace snowid::pg
