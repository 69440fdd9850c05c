// Making and freeing tables of keys. See keys.hpp.
#include "pg/counters/keys.hpp"

#include "pg/counters/bounds.hpp"
#include "pg/counters/settings.hpp"
#include "pg/server/subtransaction.hpp"
#include "pg/shared/accounts.hpp"

namespace snowid::pg {

namespace {

Accounts accounts = AccountsNamed("keys of databases", "keys of roles");

// Keys are on no role's account, since all roles that use a section add and evict its keys.
constexpr Oid kNoRole = InvalidOid;

void free_table(dsa_pointer table, Oid database) {
  const LockedAccounts locked = accounts_lock(&accounts, database, kNoRole);
  CountGone(locked, keys_at(table)->capacity);
  accounts_unlock(locked);
  dsa_free(shared_area, table);
}

// A table of keys to be made.
struct Allocation {
  uint32 capacity;
  dsa_pointer made;
};

void allocate_keys(void* argument) {
  auto* wanted = static_cast<Allocation*>(argument);
  wanted->made = keys_allocate(wanted->capacity);
}

}  // namespace

void keys_attach() { accounts_attach(&accounts); }

core::KeyTable* keys_at(dsa_pointer table) {
  Assert(shared_area != nullptr);
  if (!DsaPointerIsValid(table)) return nullptr;
  return static_cast<core::KeyTable*>(dsa_get_address(shared_area, table));
}

Bound keys_bound(uint64 capacity) {
  const uint64 limit = std::max(section_keys, least_section_keys);
  const uint64 mine = uint64{count_of_database(accounts, MyDatabaseId)} + capacity;
  const uint64 all = uint64{CountOfServer(accounts)} + capacity;
  // Each database may have as many keys as one section, however many other databases have.
  if (mine <= limit) return Bound::kNone;
  if (mine > 50 * limit) return Bound::kDatabase;
  return all > 200 * limit ? Bound::kServer : Bound::kNone;
}

bool KeysBeginSweep(Bound bound) { return BeginSweep(accounts, bound); }

bool AreKeysToBeSwept() {
  const uint64 then = accounts.server->swept_count.load(std::memory_order_relaxed);
  return CountOfServer(accounts) >= then + static_cast<uint64>(section_keys);
}

void NoteKeysSwept() {
  accounts.server->swept_count.store(CountOfServer(accounts), std::memory_order_relaxed);
}

dsa_pointer keys_allocate(uint32 capacity) {
  Assert(capacity >= 1);
  // Without any lock, since it may take long.
  const dsa_pointer made =
      dsa_allocate_extended(shared_area, core::KeyTableBytes(capacity), DSA_ALLOC_HUGE);
  PG_TRY();
  {
    const LockedAccounts locked = accounts_lock(&accounts, MyDatabaseId, kNoRole);
    CountMade(locked, capacity);
    accounts_unlock(locked);
  }
  PG_CATCH();
  {
    dsa_free(shared_area, made);
    PG_RE_THROW();
  }
  PG_END_TRY();
  core::MakeKeyTable(dsa_get_address(shared_area, made), capacity);
  return made;
}

dsa_pointer keys_try_to_allocate(uint32 capacity) {
  AssertHoldsNone();
  Allocation wanted{capacity, InvalidDsaPointer};
  ErrorData* error = try_in_subtransaction(allocate_keys, &wanted);
  if (error == nullptr) return wanted.made;
  // It is the kernel that refuses, where /dev/shm is full, which no flag of dsa's covers.
  if (ERRCODE_TO_CATEGORY(error->sqlerrcode) != ERRCODE_INSUFFICIENT_RESOURCES) ReThrowError(error);
  FreeErrorData(error);
  return InvalidDsaPointer;
}

void keys_free(dsa_pointer table) { free_table(table, MyDatabaseId); }

void keys_free_all(SharedSection* section, Oid database) {
  AssertHoldsSome();
  Assert(section->users.load() == 0 && section->known.file.load() == 0);
  const dsa_pointer table = section->table;
  section->table = InvalidDsaPointer;
  if (DsaPointerIsValid(table)) free_table(table, database);
}

}  // namespace snowid::pg
