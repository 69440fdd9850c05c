// The memory for the keys of sections, which are many.
//
// Shared: a table of keys is reached only with its section's lock; it is freed with that lock, once
// it is taken out of the section, or with the section's entry. How many keys there is room for in
// all tables of a database, and of the server, is on accounts, see shared/accounts.hpp: their
// partitions are the last that a session locks.
#pragma once

#include "pg/counters/store.hpp"

namespace snowid::pg {

// Attaches to the accounts, which the functions below need. Later calls cost next to nothing. Fails
// as table_attach() does.
void keys_attach();

// The table of keys at a place, nullptr where there is none. It needs the section's lock.
core::KeyTable* keys_at(dsa_pointer table);

// Whether a table with room for so many keys is to be had: only where the database stays below 50
// times snowid.section_keys, or its default, and the server below 200 times.
bool keys_have_room(uint32 capacity);

// Whether there is a section's worth of keys more in all tables of the server than when
// NoteKeysSwept() was last called, by whatever session.
bool AreKeysToBeSwept();
void NoteKeysSwept();

// Makes a table of keys. Fails where there is no memory, with an error of class 53.
dsa_pointer keys_allocate(uint32 capacity);

// The same, but returns InvalidDsaPointer where there is no memory. To be called without any
// LWLock: it takes a subtransaction, which lets go of them all if it fails.
dsa_pointer keys_try_to_allocate(uint32 capacity);

// Frees a table of keys of this database that nobody can reach any more.
void keys_free(dsa_pointer table);

// Takes its table from a section and frees it, if there is one. database: the section's. It needs
// the section's lock, or that nobody can reach the section any more.
void keys_free_all(SharedSection* section, Oid database);

}  // namespace snowid::pg
