// Making and freeing tables of keys. See keys.hpp.
#include "pg/counters/keys.hpp"

#include "pg/counters/settings.hpp"
#include "pg/xact.hpp"

namespace snowid::pg {

namespace {

Bounds bounds_of_keys() {
  const uint64 limit = std::max(section_keys, least_section_keys);
  return {200 * limit, 50 * limit};
}

void free_table(dsa_pointer table, Oid database) {
  Usage* usage = usage_lock(key_quota, database);
  count_gone(key_quota, usage, keys_at(table)->capacity);
  usage_unlock(key_quota, usage);
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

// No error says so: keys leave early.
Quota key_quota = make_quota(nullptr, bounds_of_keys, "usage of keys");

core::KeyTable* keys_at(dsa_pointer table) {
  Assert(shared_area != nullptr);
  if (!DsaPointerIsValid(table)) return nullptr;
  return static_cast<core::KeyTable*>(dsa_get_address(shared_area, table));
}

dsa_pointer keys_allocate(uint32 capacity) {
  Assert(capacity >= 1);
  // Without any lock, since it may take long.
  const dsa_pointer made =
      dsa_allocate_extended(shared_area, core::key_table_bytes(capacity), DSA_ALLOC_HUGE);
  PG_TRY();
  {
    Usage* usage = usage_lock(key_quota, MyDatabaseId);
    count_made(key_quota, usage, capacity);
    usage_unlock(key_quota, usage);
  }
  PG_CATCH();
  {
    dsa_free(shared_area, made);
    PG_RE_THROW();
  }
  PG_END_TRY();
  core::make_key_table(dsa_get_address(shared_area, made), capacity);
  return made;
}

dsa_pointer keys_try_to_allocate(uint32 capacity) {
  assert_holds_none();
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
  assert_holds_some();
  Assert(section->users.load() == 0 && section->known.file.load() == 0);
  const dsa_pointer table = section->table;
  section->table = InvalidDsaPointer;
  if (DsaPointerIsValid(table)) free_table(table, database);
}

}  // namespace snowid::pg
