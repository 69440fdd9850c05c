// The pages that the ceiling is durable in: that of a sequence, and one behind it in the same
// storage.
//
// The sequence's own page is what pg_dump carries, by setval. So whoever restores the data of an
// earlier day into a database that is in use sets it back. The second page is snowid's alone: no
// setval and no dump changes it. Both are raised by one record, and the greater one counts.
//
// The second page says, too, which times a transaction is about to have rewound: whether it has
// committed, snowid.rewinds tells. Else nobody could tell a ceiling that is wild from one that was
// raised by the right clock, by a database that got the row later.
//
// Shared: both are guarded by the content locks of their buffers, taken in the order of their
// blocks. The second page is made by the first who is to raise the ceiling in a storage, under the
// relation's lock for that.
#pragma once

#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

struct CeilingPage {
  SequencePage sequence;
  Buffer kept;  // InvalidBuffer where there is none
};

// Pins the pages of the ceiling's sequence, and locks them; and the reverse. What holds for
// SequencePage holds here.
CeilingPage ceiling_page_lock(Relation relation);
void ceiling_page_unlock(const CeilingPage& page);

// As sequence_page_lock_of().
CeilingPage ceiling_page_lock_of(Form_pg_class form, Relation log_as);

// Makes the second page, if there is none. No page and no LWLock may be locked.
void ceiling_page_extend(Relation relation);

// The greater of what they say, whatever is wild.
core::UnixMillis CeilingOn(const CeilingPage& page);

// Up to when, by what they say, IDs may have been issued that are not in wild times. Never in one:
// where the ceiling was raised to a time that is wild by other IDs, it is the end of that.
core::UnixMillis CeilingOn(const CeilingPage& page, const core::WildTimes& wild);

// Whether both say the same, or there is but one; and nobody is about to rewind.
bool AreAlike(const CeilingPage& page);

// How the ceiling is raised.
struct Raise {
  core::UnixMillis from;  // the first time that is to be used
  core::UnixMillis to;
  bool is_step;  // over wild times: none is to be used yet
};

// Stores a value in both, and that nobody is about to rewind. before: what the ceiling is, where
// some times are wild. Returns what sequence_page_set() does.
XLogRecPtr ceiling_page_set(const CeilingPage& page, core::UnixMillis before, const Raise& raise);

// Stores in the second page, which must be there, that this transaction is about to rewind.
void ceiling_page_mark(const CeilingPage& page, const core::Wild& wild);

// What the second page remembers of the times before a moment.
struct UsedBefore {
  core::UnixMicros last;   // the last one that an ID may have, 0 where none is known to
  core::UnixMicros since;  // if that is next to it: since when all may have been used; else 0
};
UsedBefore LastUsedBefore(const CeilingPage& page, core::UnixMillis moment);

// The ceiling of a relation, read under its locks.
core::UnixMillis ceiling_of(Relation relation);

}  // namespace snowid::pg
