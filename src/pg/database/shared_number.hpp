// The node's number as sessions share it. A session that learns it reads several catalogs; the
// others read one word, which says that it was learned and that nothing has changed since.
//
// Shared: Database::number, moved by compare-and-swap. It holds how often the number has changed,
// and the number, if a session has stored it since. A change of what the number is learned from is
// counted at once, and a second time at the end of the transaction: so a number that was learned
// before, and is stored after that, is not taken.
#pragma once

#include "pg/database/entry.hpp"

namespace snowid::pg {

// Whether this transaction has changed the number, so that it sees another one than other sessions.
bool has_changed_number() noexcept;

// The number that a session has stored since it became another one last. Returns false where none
// has; in a transaction that has changed it; and in a parallel worker and during recovery, where it
// cannot be known whether it has. Fails as table_attach() does.
bool shared_number_recall(int64* number);

// Stores the number, if it has become no other one since `changes` were counted. number: 0 or more;
// one that the word has no room for is not stored.
void shared_number_store(uint64 changes, int64 number);

// Counts a change, so that all sessions of this database learn the number anew with their next
// draw, also in the middle of a statement. Fails as table_attach() does.
void shared_number_change();

// Counts a change now and at the end of this transaction, when others see it. The commit of a
// prepared transaction is not noticed here, so the caller must not let this one be prepared
// (durable_commit.hpp).
void shared_number_change_with_transaction();

// Called by module.cpp.
void at_eoxact_shared_number(XactEvent event);

// Whether this database may issue IDs, by what it knows of itself as a node. fails: whether to
// raise 55000 if it may not. May look at catalogs. Defined in nodes/node_number.cpp.
bool node_may_issue(bool fails);

// Calls node_may_issue(), and notes in shared memory if it returns true: it need not be called
// again before recheck_may_issue(). In a transaction that has changed the node's number nothing is
// noted. Raises 55000 as node_may_issue() does.
void check_may_issue(bool fails);

}  // namespace snowid::pg
