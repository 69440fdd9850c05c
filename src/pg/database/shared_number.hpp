// The node's own number as sessions share it: it takes a look at several catalogs to learn it, and
// one word to know that another session has learned it, and that nothing has happened since.
//
// Shared: Database::number, moved by compare-and-swap. It holds how often the number became another
// one, and the number, if anybody has stored it since. Who changes what the number is learned from
// counts up at once, and where that is in a transaction again at its end: what somebody stores who
// has looked before that does not count any more.
#pragma once

#include "pg/database/entry.hpp"

namespace snowid::pg {

// Whether this transaction has changed it, so that what it sees is not what the others see.
bool HasChangedNumber();

// The number that a session has stored since it became another one last. Returns false where none
// has; in a transaction that has changed it; and in a parallel worker and during recovery, where
// that cannot be told. Fails as table_attach() does.
bool shared_number_recall(int64* number);

// Stores the number, if it has become no other one since `changes` were counted. number: 0 or more;
// one that the word has no room for is not stored.
void shared_number_store(uint64 changes, int64 number);

// Has all sessions of this database look anew with their next draw, also in the middle of a
// statement. Fails as table_attach() does.
void shared_number_change();

// The same, and again at the end of this transaction, where that is when others see the change. If
// it is prepared, its commit is not heard of here: a change that others must hear of then does not
// let it be.
void shared_number_change_with_transaction();

}  // namespace snowid::pg
