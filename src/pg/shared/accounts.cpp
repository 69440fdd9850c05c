// Counting. See accounts.hpp.
#include "pg/shared/accounts.hpp"

namespace snowid::pg {

namespace {

uint32 Read(const std::atomic<uint32_t>& count) { return count.load(std::memory_order_relaxed); }

// Unlocks an account, and deletes it if its count is 0.
void unlock_account(const SharedTable& table, void* account, const std::atomic<uint32_t>& count) {
  if (Read(count) == 0)
    table_delete(table, account);
  else
    table_release(table, account);
}

}  // namespace

void accounts_attach(Accounts* accounts) {
  if (likely(accounts->server != nullptr)) return;
  constexpr Oid kServer = InvalidOid;
  table_attach(&accounts->roles);
  accounts->server =
      static_cast<DatabaseAccount*>(table_attach_entry(&accounts->databases, &kServer));
}

uint32 CountOfServer(const Accounts& accounts) {
  Assert(accounts.server != nullptr);
  return Read(accounts.server->count);
}

uint32 count_of_database(const Accounts& accounts, Oid database) {
  auto* account = static_cast<DatabaseAccount*>(table_find(accounts.databases, &database, false));
  if (account == nullptr) return 0;
  const uint32 count = Read(account->count);
  table_release(accounts.databases, account);
  return count;
}

uint32 count_of_role(const Accounts& accounts, Oid database, Oid role) {
  const RoleKey key{database, role};
  auto* account = static_cast<RoleAccount*>(table_find(accounts.roles, &key, false));
  if (account == nullptr) return 0;
  const uint32 count = Read(account->count);
  table_release(accounts.roles, account);
  return count;
}

LockedAccounts accounts_lock(Accounts* accounts, Oid database, Oid role) {
  Assert(accounts->server != nullptr);
  LockedAccounts locked{accounts, nullptr, nullptr};
  locked.database =
      static_cast<DatabaseAccount*>(table_find_or_make(accounts->databases, &database, nullptr));
  const RoleKey key{database, role};
  if (OidIsValid(role))
    locked.role = static_cast<RoleAccount*>(table_find_or_make(accounts->roles, &key, nullptr));
  return locked;
}

void CountMade(const LockedAccounts& locked, uint32 count) {
  AssertHoldsSome();
  locked.accounts->server->count.fetch_add(count, std::memory_order_relaxed);
  locked.database->count.fetch_add(count, std::memory_order_relaxed);
  if (locked.role != nullptr) locked.role->count.fetch_add(count, std::memory_order_relaxed);
}

void CountGone(const LockedAccounts& locked, uint32 count) {
  AssertHoldsSome();
  Assert(Read(locked.accounts->server->count) >= count && Read(locked.database->count) >= count);
  Assert(locked.role == nullptr || Read(locked.role->count) >= count);
  locked.accounts->server->count.fetch_sub(count, std::memory_order_relaxed);
  locked.database->count.fetch_sub(count, std::memory_order_relaxed);
  if (locked.role != nullptr) locked.role->count.fetch_sub(count, std::memory_order_relaxed);
}

void accounts_unlock(const LockedAccounts& locked) {
  if (locked.role != nullptr)
    unlock_account(locked.accounts->roles, locked.role, locked.role->count);
  unlock_account(locked.accounts->databases, locked.database, locked.database->count);
}

}  // namespace snowid::pg
