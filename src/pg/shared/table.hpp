// Tables in shared memory that all sessions of a server share. Each belongs to a family, which
// declares it; a session attaches to it when it first needs it. The idea is PostgreSQL's own
// dsm_registry.c.
//
// Shared: the root, of which there is one for a server, see table.cpp. It holds the handle of an
// area of dynamic shared memory, and a directory of the tables in it: name, ABI number, handle. A
// table is a dshash table: finding an entry locks its partition, which is let go of with
// table_release() or table_delete(). A session that locks partitions of several tables takes them
// in the order in which the families say so; nobody locks two of one table.
//
// A dshash table never moves its entries, so a session may keep plain pointers to those that it has
// used, and needs the table's lock only to find them. Why none of them is ever deleted under it:
//
//   Each of these entries has a count of its users. A session takes a pointer with the entry's
//   partition locked, and counts itself in before it lets go of that lock. It counts itself out,
//   with LetGo(), once it has forgotten the pointer, when its process exits at the latest, by a
//   callback. An entry is deleted with its partition locked exclusively, and only where the count
//   is 0: then nobody has a pointer, and nobody can take one before the entry is gone from the
//   table. A process that ends without running its callbacks has crashed, and then the postmaster
//   ends all others and makes shared memory anew. No lock of a relation, and nothing that a catalog
//   says, has a part in this: they tell what is worth deleting, not what may be deleted.
//
// Entries without such a count are either never deleted, or never pointed to without the lock.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// What entries are made of, so that processes can share it.
static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

// How a family declares a table.
struct TableForm {
  const char* name;  // which no other table has; up to 31 bytes
  uint32 abi;        // the family's, which stands for the form of the entries
  Size key_size;     // an entry begins with its key, which is compared as bytes
  Size entry_size;
  // Makes a new entry, which but for its key is zero, what it is to be at first; nullptr where that
  // is zero. Must not fail.
  void (*begin)(void* entry);
};

// A table as a session knows it.
struct SharedTable {
  TableForm form;
  dshash_table* attached;  // nullptr before table_attach()
};

// Attaches to the table, which is made where there is none. Later calls cost next to nothing. Fails
// with 55000 where a library of another ABI has made it, with an error of class 53 where there is
// no memory. No LWLock may be held.
void table_attach_now(SharedTable* table);
inline void table_attach(SharedTable* table) {
  if (unlikely(table->attached == nullptr)) table_attach_now(table);
}

// The functions below need the session to be attached.

// An entry, with its partition locked exclusively or shared; nullptr, with no lock, where there is
// none.
void* table_find(const SharedTable& table, const void* key, bool exclusively);

// An entry, made where there is none, with its partition locked exclusively. Fails where there is
// no memory. Sets *made, unless that is nullptr, to whether there was none.
void* table_find_or_make(const SharedTable& table, const void* key, bool* made);

// Unlocks an entry's partition.
void table_release(const SharedTable& table, void* entry);

// Deletes an entry, which is locked exclusively, and unlocks its partition.
void table_delete(const SharedTable& table, void* entry);

// The area that the tables are in, once the session is attached to any of them.
extern dsa_area* shared_area;

// For locks of entries to be initialized with.
extern int shared_tranche;

// Counts this session out of an entry, and forgets the pointer to it, if there is one. Never fails.
template <typename Entry>
inline void LetGo(Entry*& entry) {
  if (entry == nullptr) return;
  Entry* was = entry;
  entry = nullptr;
  // What this session did to the entry comes before, for whoever finds the count at 0.
  was->users.fetch_sub(1, std::memory_order_release);
}

}  // namespace snowid::pg
