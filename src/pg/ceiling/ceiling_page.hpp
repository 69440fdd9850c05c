// The pages that the ceiling is durable in: that of a sequence, and one behind it in the same
// storage.
//
// The sequence's own page is what pg_dump carries, by setval. So restoring the data of an earlier
// day into a database that is in use sets it back. The second page is used by snowid alone: no
// setval and no dump changes it. Both are raised by one record, and the greater one counts. The
// second page also holds the wild times.
//
// Shared: both are guarded by the content locks of their buffers, taken in the order of their
// blocks. The second page is made by the first session that writes the ceiling to a storage, under
// the relation's extension lock.
#pragma once

#include "pg/sequence_page.hpp"

namespace snowid::pg {

struct CeilingPage {
  SequencePage sequence;
  Buffer second;  // InvalidBuffer where there is none
};

// Pins the pages of the ceiling's sequence, and locks them; and the reverse. What holds for
// SequencePage holds here.
CeilingPage ceiling_page_lock(Relation relation);
void ceiling_page_unlock(const CeilingPage& page);

// Reads the pages. Fails with 0A000 where the second one is of another version.
struct CeilingOnPages {
  core::UnixMillis ceiling;  // the greater of the two
  core::UnixMillis own;      // what the second one says, or the first where there is but one
  bool are_alike;            // whether both say so, or there is but one
  core::WildTimes wild;
};
CeilingOnPages ceiling_page_read(const CeilingPage& page);

// Stores a ceiling in both pages; and `known` as the wild times in the second one, if it has none.
// Returns what sequence_page_set() does.
XLogRecPtr ceiling_page_set(const CeilingPage& page, core::UnixMillis ceiling,
                            const core::WildTimes& known);

// Stores a ceiling in both pages, and wild times in the second, in place of what is there.
XLogRecPtr ceiling_page_replace(const CeilingPage& page, core::UnixMillis ceiling,
                                const core::WildTimes& wild);

}  // namespace snowid::pg
