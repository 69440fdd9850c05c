// Accounts: how much of a thing a role has in a database, the database has, and the server has.
//
// Shared: two tables for each thing that is counted, of databases and of roles. A count is changed
// with the locks of the partitions that both accounts are in, that of the database's taken first,
// and is an atomic, since sessions read the server's without a lock. Who counts entries of a table
// locks the accounts before the entry, so that no error comes between.
#pragma once

#include "pg/shared/abi.hpp"
#include "pg/shared/table.hpp"

namespace snowid::pg {

// What a database has; under InvalidOid, what the server has. An account of nothing is deleted, but
// for the server's, and for what an error has left.
struct DatabaseAccount {
  Oid database;
  std::atomic<uint32_t> count;
  // Of the server's alone: when entries were last swept for a role, for a database, for the server,
  // as Unix microseconds, see quota.hpp; or how much there was then.
  std::atomic<int64_t> swept_us[3];
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

SNOWID_PIN(DatabaseAccount, count, 4);
SNOWID_PIN(DatabaseAccount, swept_us, 8);
SNOWID_PIN(DatabaseAccount, swept_count, 32);
SNOWID_PIN_SIZE(DatabaseAccount, 40);
SNOWID_PIN(RoleAccount, count, 8);
SNOWID_PIN_SIZE(RoleAccount, 12);

// The accounts of one thing. Belongs to one process.
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

// Attaches to the tables. Fails as table_attach() does. The functions below need it to have been
// called.
void accounts_attach(Accounts* accounts);

// How much there is on an account, 0 where there is none.
uint32 CountOfServer(const Accounts& accounts);
uint32 count_of_database(const Accounts& accounts, Oid database);
uint32 count_of_role(const Accounts& accounts, Oid database, Oid role);

// Who pays for a thing: accounts with their partitions locked.
struct Payers {
  Accounts* accounts;
  DatabaseAccount* database;
  RoleAccount* role;  // nullptr where roles have no part in it
};

// The payers of a thing, made where there are none. role: InvalidOid where roles have no part in
// it. Fails where there is no memory, but not where the accounts have anything on them.
Payers accounts_lock(Accounts* accounts, Oid database, Oid role);

// Adds to the accounts, or takes off them. Never fail.
void CountMade(const Payers& payers, uint32 count = 1);
void CountGone(const Payers& payers, uint32 count = 1);

// Lets go of the locks.
void accounts_unlock(const Payers& payers);

}  // namespace snowid::pg
