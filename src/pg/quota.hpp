// What one role and one database may take of the memory that all share: callers choose shards and
// sequences, and none of them must leave the others without.
//
// The server holds so many slots, and so many counters (segments and sections). A database may have
// a quarter of them; a role half of what its database may have, but for superusers. What a session
// makes is on the account of the role that it logged in as. Where the server has no more, there is
// a reserve: a database that has few is not refused for what others have taken, nor is a role that
// has few in its database.
//
// Shared: the counts of Root and Database are atomics, those of an Account have the lock of its
// partition. All are changed with that lock and the entry's, so no error comes between them. Two
// sessions that look at the same time can both find the last place free: the bounds hold but for
// that.
#pragma once

#include "pg/area.hpp"

namespace snowid::pg {

// What keeps a session from making an entry.
enum class Bound : uint8_t { kNone, kRole, kDatabase, kServer };

// What keeps this session from making one. It must be called without any lock.
Bound bound_of(Kind kind);

// Sees to it that this session may make an entry. Where it may not, `sweep` is called first, which
// removes what nobody needs, as far as IsWithin() says; once in 100 ms for all sessions, so that
// refusals do not cost all others. Fails with 53200.
void quota_require_room(Kind kind, void (*sweep)(Bound bound));

// Whether an entry counts for the bound that keeps this session from making one: who has used up
// what is his own is no reason to clear what is others'.
bool IsWithin(Bound bound, Oid database, Oid role);

// What an entry counts for.
struct Payers {
  Database* database;  // nullptr where there is no such entry
  Account* account;
};

// The payers of an entry, with their partitions locked, so that it can be made or deleted. The
// account is made where there is none.
Payers quota_lock(Oid database, Oid role);

// Counts an entry that was made or deleted. Never fails.
void CountMade(Kind kind, const Payers& payers);
void CountGone(Kind kind, const Payers& payers);

// Lets go of the locks. An account of nothing is deleted.
void quota_unlock(const Payers& payers);

}  // namespace snowid::pg
