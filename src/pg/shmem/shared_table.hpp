// Tables in shared memory that all sessions of a server share. Each belongs to a family, which
// declares it, with a number that stands for the form of its entries (ABI): a session refuses a
// table that a library with another number has made, and the other families go on. The idea is
// PostgreSQL's own dsm_registry.c.
//
// Called in this order: table_attach(), when a session first needs the table; dshash_find() or
// table_find_or_make(), which lock the entry's partition; dshash_release_lock() or table_delete(),
// which unlock it.
//
// Shared: the root, of which there is one for a server, see shared_table.cpp. It holds the handle
// of an area of dynamic shared memory, and a directory of the tables in it, which are dshash
// tables. A session that locks partitions of several tables takes them in the order that the
// family's headers give, and locks no second one of the same table, so there are no deadlocks.
//
// A dshash table never moves its entries, so a session may keep plain pointers to those that it has
// used. Why none of them is ever deleted under it:
//
//   Each of these entries has a count of its users. A session takes a pointer with the entry's
//   partition locked, and counts itself in before it releases that lock. It counts itself out,
//   with let_go(), once it has forgotten the pointer, when its process exits at the latest. An
//   entry is deleted with its partition locked exclusively, and only where the count is 0. A
//   process that ends without running its callbacks has crashed, and then the postmaster ends all
//   others and creates shared memory again. Locks of relations and the contents of catalogs have no
//   part in this: they decide what is worth deleting, not what may be deleted.
//
// Entries without such a count are either never deleted, or never pointed to without the
// partition's lock.
#pragma once

#include "pg/postgres.hpp"

#include "pg/debug.hpp"

extern "C" {
#include "lib/dshash.h"
#include "storage/lwlock.h"
}

// The ABI number of Root and Listed in shared_table.cpp and of Usage in bounds.hpp. To be changed
// with anything that is pinned there, and with what the fields mean.
#ifndef SNOWID_SHARED_ABI
#define SNOWID_SHARED_ABI 9
#endif

// Pins the size of a type, or the offset of a field, that lies in shared memory: a change of the
// form does not compile, which is a reminder to change the ABI number, too.
#define SNOWID_PIN_SIZE(type, size) static_assert(sizeof(type) == (size))
#define SNOWID_PIN(type, field, offset) static_assert(offsetof(type, field) == (offset))

namespace snowid::pg {

// For offsets behind a lock: its size is the server's, and may differ from one build to another.
inline constexpr Size kLockSize = sizeof(LWLock);

// Processes can share an atomic only if it needs no lock. These are the ones that entries hold.
static_assert(std::atomic<int32_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// A table, as a family declares it and a session knows it.
struct SharedTable {
  const char* name;  // unique among all tables; up to 31 bytes
  uint32 abi;        // the number that stands for the form of the entries
  Size key_size;     // an entry begins with its key, which is compared as bytes
  Size entry_size;
  // Initializes a new entry, of which all but the key is zero. It is called with the partition
  // locked, and must not fail.
  void (*begin)(void* entry) = nullptr;
  dshash_table* attached = nullptr;  // by table_attach()
  // How many entries it has, changed with the partition of the one that is made or deleted locked.
  std::atomic<uint64_t>* entries = nullptr;
};

// Attaches to the table, made if there is none. Later calls cost next to nothing.
// Requires: no LWLock is held.
// Raises: 55000 if a library with another ABI number has made the table or the root; class 53
// without memory, and then it can be called again. Ends the session (54000) if there is no room for
// a callback at its exit.
void table_attach_now(SharedTable* table);
inline void table_attach(SharedTable* table) {
  if (unlikely(table->attached == nullptr)) table_attach_now(table);
}

// The functions below require table_attach(). This one, which does it, finds an entry that is never
// deleted, made if there is none, and returns it without a lock.
void* table_attach_entry(SharedTable* table, const void* key);

// Finds an entry, made if there is none, and locks its partition exclusively. Sets *made, unless
// `made` is nullptr, to whether it was made. Raises: class 53 without memory.
void* table_find_or_make(const SharedTable& table, const void* key, bool* made);

// Deletes an entry, which is locked exclusively, and unlocks its partition.
void table_delete(const SharedTable& table, void* entry);

// How many bytes the entries of the table of this name take, with what dshash puts before each, and
// without the table's own index of them; 0 if there is no such table. Requires: the session is
// attached to one of the tables.
int64 table_memory(const char* name);

// Has a library for tests count the entries themselves, to be compared with what is counted as they
// are made and deleted.
SNOWID_BOUND(walk_tables, 0);

// What a session does at its exit, before_shmem_exit(), once it has attached to a table. (The
// postmaster's children do not inherit such a callback.) Defined in module.cpp.
void at_session_exit(int code, Datum argument);

// The area that the tables are in; nullptr until the session has attached to one of them.
extern dsa_area* shared_area;

// The tranches of snowid's LWLocks, with which locks in entries are initialized: their names are
// what pg_stat_activity shows of a process that waits. Known once the session has attached to a
// table.
enum class Tranche : uint8_t {
  kCeiling,  // SnowidCeiling: held to raise the ceiling, and to flush its WAL
  kSection,  // SnowidSection: held for microseconds, to have keys leave for milliseconds
  kShared,   // SnowidShared: tables and their directory; held for microseconds
};
int tranche_of(Tranche tranche) noexcept;

// Counts this session out of an entry, and forgets the pointer to it, if there is one. Never fails.
template <typename Entry>
inline void let_go(Entry*& entry) noexcept {
  if (entry == nullptr) return;
  Entry* was = entry;
  entry = nullptr;
  // Releases what this session did to the entry to a process that finds the count at 0.
  [[maybe_unused]] const uint32_t users = was->users.fetch_sub(1, std::memory_order_release);
  Assert(users > 0);
}

}  // namespace snowid::pg
