// What a transaction that has replaced the ceiling's sequence, or its storage, goes back to if it
// or a part of it is rolled back. IDs that it has shown to its client by then must not come again,
// so whatever it may go back to is raised as well.
//
// Shared: the pages of that storage. Until the transaction ends it has the lock on each of these
// relations that it took to replace or drop them, so nobody else writes there.
#pragma once

#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

// Raises to `target` what is below it of the storage that this transaction has replaced or dropped:
// of the sequence as it is, and of the one of oid `before`, which may be InvalidOid. Returns the
// end of the last WAL record, which is not flushed yet, or InvalidXLogRecPtr. relation: the
// sequence as it is, made or given its storage by this transaction.
XLogRecPtr raise_earlier_storage(Relation relation, Oid before, core::UnixMillis target);

}  // namespace snowid::pg
