// The memory for the keys of sections: each section has a table of keys, core::KeyTable, which may
// be large.
//
// Shared: a table of keys is reached by SharedSection::table, with the section's lock or one of its
// draw locks held. It is freed once it is taken out of the section, which takes all of them, or
// with the section's entry, so nobody can reach it then. Accounts (shared/accounts.hpp) count how
// many keys there is room for in all tables of a database, and of the server. The accounts'
// partitions are the last that a session locks.
#pragma once

#include "pg/counters/store.hpp"
#include "pg/shared/quota.hpp"

namespace snowid::pg {

// Attaches to the accounts, which the functions below need. Later calls cost next to nothing. Fails
// as table_attach() does.
void keys_attach();

// The table of keys at an address in shared memory; nullptr for InvalidDsaPointer. The section's
// lock or a draw lock is held, or nobody else can reach the table. Fails where memory cannot be
// mapped.
core::KeyTable* keys_at(dsa_pointer table);

// The bound that keeps tables with room for `capacity` keys from being made, kNone where they may
// be. With L the greater of snowid.section_keys and its default, they may where the database has L
// keys or fewer with them, or the database has 50 L or fewer and the server 200 L or fewer.
Bound keys_bound(uint64 capacity);

// Whether this session may sweep keys now for a bound that it has reached, see BeginSweep().
bool KeysBeginSweep(Bound bound);

// Whether the server's keys have grown by snowid.section_keys since a session last called
// NoteKeysSwept().
bool AreKeysToBeSwept();
void NoteKeysSwept();

// Makes a table of keys of this database, which nobody else can reach yet. capacity: at least 1.
// Fails with an error of class 53 where there is no memory.
dsa_pointer keys_allocate(uint32 capacity);

// The same, but returns InvalidDsaPointer where there is no memory. No LWLock may be held: it tries
// in a subtransaction, and an error there releases all of them.
dsa_pointer keys_try_to_allocate(uint32 capacity);

// Frees a table of keys of this database that was taken out of its section.
void keys_free(dsa_pointer table);

// Takes the table, if there is one, out of a section of `database`, and frees it. The section's
// partition is locked exclusively and nobody uses it.
void keys_free_all(SharedSection* section, Oid database);

}  // namespace snowid::pg
