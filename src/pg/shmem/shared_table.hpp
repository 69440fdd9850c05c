// Hash tables in shared memory. A module declares each with an ABI number for the form of its
// entries: a session rejects a table created by a library with another number, and continues to use
// the others. The idea is PostgreSQL's dsm_registry.c.
//
// In the order of use: table_attach(), when a session first needs the table; dshash_find() or
// table_find_or_make(), which lock the entry's partition; dshash_release_lock() or table_delete().
//
// Shared: the root, one per server (shared_table.cpp), with the handle of a DSA area and a
// directory of its dshash tables. To avoid deadlocks, a session locks partitions of several tables
// in the order stated in the module's header, and never two of one table.
//
// Why sessions may keep plain pointers: dshash never moves entries, and each entry counts its
// users. A session counts itself in under the partition's lock, and out (let_go) after dropping the
// pointer, at the latest when its process exits. An entry is deleted only under the exclusive
// partition lock, and only if the count is 0. A process that skips its exit callbacks has crashed,
// and the postmaster resets shared memory. Uncounted entries are never deleted, or used locked.
#pragma once

#include "pg/postgres.hpp"

#include "pg/debug.hpp"

extern "C" {
#include "lib/dshash.h"
#include "storage/lwlock.h"
}

// The ABI number of Root, Listed, and Usage. Raise it when a size, offset, or meaning changes.
#ifndef SNOWID_SHARED_ABI
#define SNOWID_SHARED_ABI 9
#endif

// A change of a pinned size or offset does not compile until the ABI number is reconsidered.
#define SNOWID_PIN_SIZE(type, size) static_assert(sizeof(type) == (size))
#define SNOWID_PIN(type, field, offset) static_assert(offsetof(type, field) == (offset))

namespace snowid::pg {

// For offsets behind a lock, which depends on the server's build.
inline constexpr Size kLockSize = sizeof(LWLock);

// Processes can share only lock-free atomics.
static_assert(std::atomic<int32_t>::is_always_lock_free &&
              std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

struct SharedTable {
  const char* name;  // unique, up to 31 bytes
  uint32 abi;        // stands for the form of the entries
  Size key_size;     // an entry begins with its key, compared as bytes
  Size entry_size;
  // Initializes a new entry, zeroed after its key, under the partition's lock. Must not fail.
  void (*begin)(void* entry) = nullptr;
  dshash_table* attached = nullptr;  // by table_attach()
  // The number of entries, changed under the partition's lock.
  std::atomic<uint64_t>* entries = nullptr;
};

// Attaches to the table, created if there is none. Later calls cost next to nothing. Requires: no
// LWLock is held. Raises: 55000 if a library with another ABI number created the table or the root;
// class 53, to be called again. Ends the session (54000) without room for an exit callback.
void table_attach_now(SharedTable* table);
inline void table_attach(SharedTable* table) {
  if (unlikely(table->attached == nullptr)) table_attach_now(table);
}

// Attaches, as the functions below require, and returns an entry that is never deleted, unlocked.
void* table_attach_entry(SharedTable* table, const void* key);

// Finds or creates (*made) an entry, locked exclusively. Raises: class 53 if memory is short.
void* table_find_or_make(const SharedTable& table, const void* key, bool* made);

// Requires: the entry is locked exclusively. Unlocks its partition.
void table_delete(const SharedTable& table, void* entry);

// The bytes of all entries, 0 if there is no such table. Requires: a table is attached.
int64 table_memory(const char* name);

// Makes table_memory() count the entries, to test the stored counts.
SNOWID_BOUND(walk_tables, 0);

// A before_shmem_exit() callback of sessions attached to a table. Defined in module.cpp.
void at_session_exit(int code, Datum argument);

// The area of the tables, nullptr until this session is attached to one.
extern dsa_area* shared_area;

// The tranches of snowid's LWLocks, shown by pg_stat_activity. Known once a table is attached.
enum class Tranche : uint8_t {
  kCeiling,  // SnowidCeiling: raising the ceiling, and flushing its WAL
  kSection,  // SnowidSection: microseconds, or milliseconds while keys are evicted
  kShared,   // SnowidShared: tables and their directory; microseconds
};
int tranche_of(Tranche tranche) noexcept;

// Counts this session out of an entry and clears the pointer.
template <typename Entry>
inline void let_go(Entry*& entry) noexcept {
  if (entry == nullptr) return;
  Entry* was = entry;
  entry = nullptr;
  // Releases this session's changes of the entry to a process that reads a count of 0.
  [[maybe_unused]] const uint32_t users = was->users.fetch_sub(1, std::memory_order_release);
  Assert(users > 0);
}

}  // namespace snowid::pg
