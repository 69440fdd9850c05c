// What a database stores of its own membership, and how it changes that. See membership.hpp for
// what other files may see.
//
// Shared: the row of snowid_internal.membership, and the words of words.hpp. A session that changes
// any of them holds the lock that member_lock() takes. A rollback undoes the row, and not the
// words. So the row counts only if the words say so, by its incarnation.
//
// A token is sent to the registry only once it is durable in the words. So after any rollback,
// crash or lost answer the registry has the token `known` or the token `asked`. Of two copies of
// this database, only the one that has exchanged last has it.
#pragma once

#include "pg/nodes/membership.hpp"
#include "pg/nodes/words.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// A number that a registry gives: 1 to the greatest shard of the layout that is used where none is
// named. 0 is what is drawn from without joining.
inline constexpr int64 kMostNumber = core::kInstagram.max_shard.value;

// An incarnation that no row has had.
int64 new_incarnation();

// The row of snowid_internal.membership and what it means. Without one the fields are 0 or nullptr.
struct Member : Membership {
  const char* registry;  // the registry's identity
  const char* secret;    // what proves to it that the number is this node's
  int64 incarnation;
};

// Opens the table. Fails as own_table_open() does.
Relation member_open(LOCKMODE mode);

// The OID of the table, InvalidOid before member_read() was first called.
Oid member_relid();

// The same in RowExclusiveLock, and a lock of the table's object 0 that only one transaction has.
// The transaction keeps both: there is one change at a time. Close it with NoLock.
Relation member_lock();

// Reads the row, in the current memory context, as it is now: the caller's snapshot may be older.
Member member_read(Relation table);

// Stores the row in place of the one that is there, if any, as this server's and database's, and as
// checked now; and its incarnation in the words, so that it counts. is_new: whether it
// has joined now.
void member_store(Relation table, const Member& member, Words words, bool is_new);
// Deletes it.
void member_delete(Relation table);

}  // namespace snowid::pg
