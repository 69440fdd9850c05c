// Counting. See accounts.hpp.
#include "pg/shared/accounts.hpp"

namespace snowid::pg {

namespace {

uint32 Read(const std::atomic<uint32_t>& count) { return count.load(std::memory_order_relaxed); }

// Unlocks an account, and deletes it if its count is 0.
void settle(const SharedTable& table, void* account, const std::atomic<uint32_t>& count) {
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

Payers accounts_lock(Accounts* accounts, Oid database, Oid role) {
  Assert(accounts->server != nullptr);
  Payers payers{accounts, nullptr, nullptr};
  payers.database =
      static_cast<DatabaseAccount*>(table_find_or_make(accounts->databases, &database, nullptr));
  const RoleKey key{database, role};
  if (OidIsValid(role))
    payers.role = static_cast<RoleAccount*>(table_find_or_make(accounts->roles, &key, nullptr));
  return payers;
}

void CountMade(const Payers& payers, uint32 count) {
  AssertHoldsSome();
  payers.accounts->server->count.fetch_add(count, std::memory_order_relaxed);
  payers.database->count.fetch_add(count, std::memory_order_relaxed);
  if (payers.role != nullptr) payers.role->count.fetch_add(count, std::memory_order_relaxed);
}

void CountGone(const Payers& payers, uint32 count) {
  AssertHoldsSome();
  Assert(Read(payers.accounts->server->count) >= count && Read(payers.database->count) >= count);
  Assert(payers.role == nullptr || Read(payers.role->count) >= count);
  payers.accounts->server->count.fetch_sub(count, std::memory_order_relaxed);
  payers.database->count.fetch_sub(count, std::memory_order_relaxed);
  if (payers.role != nullptr) payers.role->count.fetch_sub(count, std::memory_order_relaxed);
}

void accounts_unlock(const Payers& payers) {
  if (payers.role != nullptr) settle(payers.accounts->roles, payers.role, payers.role->count);
  settle(payers.accounts->databases, payers.database, payers.database->count);
}

}  // namespace snowid::pg
