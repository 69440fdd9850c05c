// What one role and one database may take of the memory that all share: callers choose shards and
// sequences, and none of them must leave the others without.
//
// Of each thing that a family has bounds on the server holds so many. A database may have a quarter
// of them; a role half of what its database may have, but for superusers. What a session makes is
// on the account of the role that it logged in as. Where the server has no more, there is a
// reserve: a database that has few is not refused for what others have taken, nor is a role that
// has few in its database.
//
// Shared: the accounts, see accounts.hpp. Two sessions that look at the same time can both find the
// last place free: the bounds hold but for that.
#pragma once

#include "pg/shared/accounts.hpp"

namespace snowid::pg {

// How many of a thing there may be.
struct Bounds {
  uint32 server;
  uint32 database;
  uint32 role;  // in a database
  uint32 reserved_for_database;
  uint32 reserved_for_role;
};

constexpr Bounds BoundsOf(uint32 server, uint32 reserved) {
  return {server, server / 4, server / 8, reserved, reserved / 10};
}

// A thing that there are bounds on. Belongs to one process, but for the accounts.
struct Quota {
  const char* counted;  // what it is called in errors, in the plural
  Bounds bounds;
  Accounts accounts;
};

// What keeps a session from making an entry.
enum class Bound : uint8_t { kNone, kRole, kDatabase, kServer };

// What keeps this session from making one. It must be called without any lock.
Bound bound_of(const Quota& quota);

// Sees to it that this session may make an entry. Where it may not, `sweep` is called first, which
// removes what nobody needs, as far as IsWithin() says; once in 100 ms for all sessions, so that
// refusals do not cost all others. Fails with 53200, and as accounts_attach() does, of which the
// accounts are ready then.
void quota_require_room(Quota* quota, void (*sweep)(Bound bound));

// Whether an entry counts for the bound that keeps this session from making one: who has used up
// what is his own is no reason to clear what is others'.
bool IsWithin(Bound bound, Oid database, Oid role);

}  // namespace snowid::pg
