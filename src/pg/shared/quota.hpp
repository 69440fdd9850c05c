// Bounds on how much of shared memory one database and one role may use. Callers choose shards and
// sequences, so without bounds one of them could use all of it.
//
// For each thing that is bounded there is a greatest number for the server. A database may have a
// quarter of that, and a role in it half of the database's share; superusers have no bound as a
// role. What a session makes is on the account of the role that it logged in as. When the server is
// full there is a reserve: a database that has few of the things, or a role that has few in its
// database, can still make some.
//
// Shared: the accounts, see accounts.hpp. The counts are read before the accounts are locked, so
// two sessions can both find the last place free. The bounds may be exceeded by that much.
#pragma once

#include "pg/shared/accounts.hpp"

namespace snowid::pg {

// How many of a thing there may be.
struct Bounds {
  uint32 server;
  uint32 database;
  uint32 role;                   // in one database
  uint32 reserved_for_database;  // a database with fewer is not refused because the server is full
  uint32 reserved_for_role;      // nor is a role with fewer in its database
};

// The bounds that follow from the server's, and from what is reserved for a database.
constexpr Bounds BoundsOf(uint32 server, uint32 reserved) {
  return {server, server / 4, server / 8, reserved, reserved / 10};
}

// A kind of entry that is bounded, such as slots. Belongs to one process, but for the accounts.
struct Quota {
  const char* counted;  // what it is called in errors, in the plural
  Bounds (*bounds)();
  Accounts accounts;
};

// The bound that a session has reached, in the order in which they are looked at.
enum class Bound : uint8_t { kNone, kRole, kDatabase, kServer };

// The bound that keeps this session from making an entry, kNone where it may make one. The accounts
// must be attached. No LWLock may be held, for it reads catalogs.
Bound bound_of(const Quota& quota);

// Attaches to the accounts, and makes sure that this session may make an entry. Where a bound is
// reached it first calls `sweep`, which removes entries that nobody uses and for which IsWithin()
// holds. For each kind of bound that happens at most once in 100 ms, whatever the session, so that
// refusals do not cost the others much. Fails with 53200 where the bound is still reached, and as
// accounts_attach() does.
void quota_require_room(Quota* quota, void (*sweep)(Bound bound));

// Whether this session may sweep now for a bound that it has reached. If so, no other may for 100
// ms. The accounts must be attached.
bool BeginSweep(const Accounts& accounts, Bound bound);

// Whether an entry counts for the bound that this session has reached. database, role: whose
// account the entry is on. A sweep removes no other entries: a role or database that has used up
// its share must not cost others theirs.
bool IsWithin(Bound bound, Oid database, Oid role);

}  // namespace snowid::pg
