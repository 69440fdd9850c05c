// Accounts: how many entries of a kind, such as slots, a role has in a database, a database has,
// and the server has.
//
// Shared: two tables for each thing that is counted, one of databases and one of roles. To make or
// delete something, a session locks the partition of the database's account, then that of the
// role's, then that of the entry itself. So nothing can fail between the change of the entry and
// that of the counts. The server's count is changed with no lock of its own: counts are atomics.
#pragma once

#include "pg/shared/abi.hpp"
#include "pg/shared/table.hpp"

namespace snowid::pg {

// What a database has; under InvalidOid, what the server has. An account whose count is 0 is
// deleted, except the server's. An error can leave one behind, which does no harm.
struct DatabaseAccount {
  Oid database;
  std::atomic<uint32_t> count;
  // The rest is used in the server's account alone. When entries were last swept for a role, for a
  // database, for the server, as Unix microseconds; see quota.hpp.
  std::atomic<int64_t> swept_us[3];
  // The server's count when entries were last swept for another reason, see counters/keys.hpp.
  std::atomic<uint32_t> swept_count;
};

struct RoleKey {
  Oid database;
  Oid role;
};

struct RoleAccount {
  RoleKey key;
  std::atomic<uint32_t> count;
};

SNOWID_PIN(DatabaseAccount, database, 0);
SNOWID_PIN(DatabaseAccount, count, 4);
SNOWID_PIN(DatabaseAccount, swept_us, 8);
SNOWID_PIN(DatabaseAccount, swept_count, 32);
SNOWID_PIN_SIZE(DatabaseAccount, 40);
SNOWID_PIN(RoleKey, database, 0);
SNOWID_PIN(RoleKey, role, 4);
SNOWID_PIN_SIZE(RoleKey, 8);
SNOWID_PIN(RoleAccount, key, 0);
SNOWID_PIN(RoleAccount, count, 8);
SNOWID_PIN_SIZE(RoleAccount, 12);

// The accounts of one thing, as a session knows them. Belongs to one process.
struct Accounts {
  SharedTable databases;
  SharedTable roles;
  DatabaseAccount* server;  // nullptr before accounts_attach()
};

// The accounts that have tables of these names.
constexpr Accounts AccountsNamed(const char* databases, const char* roles) {
  return {{{databases, SNOWID_SHARED_ABI, sizeof(Oid), sizeof(DatabaseAccount), nullptr}, nullptr},
          {{roles, SNOWID_SHARED_ABI, sizeof(RoleKey), sizeof(RoleAccount), nullptr}, nullptr},
          nullptr};
}

// Attaches to the tables, which the functions below need. Later calls cost next to nothing. Fails
// as table_attach() does.
void accounts_attach(Accounts* accounts);

// The count of an account, 0 where there is no such account. No partition of the accounts may be
// locked by this session.
uint32 CountOfServer(const Accounts& accounts);
uint32 count_of_database(const Accounts& accounts, Oid database);
uint32 count_of_role(const Accounts& accounts, Oid database, Oid role);

// The accounts that a thing counts on, with their partitions locked exclusively.
struct LockedAccounts {
  Accounts* accounts;
  DatabaseAccount* database;
  RoleAccount* role;  // nullptr where the thing is on no role's account
};

// Locks the accounts that a thing counts on, and makes those that do not exist. role: InvalidOid
// where the thing is on no role's account. Fails with an error of class 53 where there is no memory
// for an account that has to be made.
LockedAccounts accounts_lock(Accounts* accounts, Oid database, Oid role);

// Adds to the counts, the server's too, or subtracts from them. Never fail.
void CountMade(const LockedAccounts& locked, uint32 count = 1);
void CountGone(const LockedAccounts& locked, uint32 count = 1);

// Lets go of the locks, and deletes accounts whose count is 0.
void accounts_unlock(const LockedAccounts& locked);

}  // namespace snowid::pg
