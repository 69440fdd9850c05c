// The sequences that a column was numbered by, which snowid_adopt() removes: those of an identity,
// and those of a serial column. Reads catalogs; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The sequences that the column of one of these tables owns. Those of serial columns that the
// column's default draws from, and no other: what else a sequence is for, PostgreSQL does not know.
// A notice says which ones are left. The tables must be locked.
List* serial_sequences(const List* tables, const char* column);

// Removes the identity of the column of each of these tables, and its sequence. Fails with 2BP01
// where something else depends on that. Needs SPI; the tables must be locked.
void drop_identities(const List* tables, const char* column);

// Drops sequences. Fails with 2BP01 where something depends on one. Needs SPI.
void drop_sequences(const List* sequences);

}  // namespace snowid::pg
