// The memory for the keys of sections: each section has a table of keys, core::KeyTable, which may
// be large.
//
// Shared: a table of keys is reached by SharedSection::table, with the section's lock or one of its
// draw locks held. It is freed once it is taken out of the section, which takes all of them, or
// with the section's entry, so nobody can reach it then. A quota (shmem/bounds.hpp) counts how many
// keys there is room for in all tables of a database, and of the server. The partition of its usage
// is the last that a session locks.
#pragma once

#include "pg/counters/store.hpp"
#include "pg/shmem/bounds.hpp"

namespace snowid::pg {

// The keys that there is room for. With L the greater of snowid.section_keys and its default, a
// database may have 50 L and the server 200 L. The functions below need the session to be attached
// to it.
extern Quota key_quota;

// The table of keys at an address in shared memory; nullptr for InvalidDsaPointer. The section's
// lock or a draw lock is held, or nobody else can reach the table. Fails where memory cannot be
// mapped.
core::KeyTable* keys_at(dsa_pointer table);

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
