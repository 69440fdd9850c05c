// The durable storage of the ceiling: the sequence snowid_internal.ceiling, and a page behind its
// own in the same file.
//
// pg_dump carries the sequence's own page, by setval. Restoring the data of an earlier day into a
// database in use therefore sets it back. The second page is snowid's alone: no setval and no dump
// changes it. Both are raised by one WAL record, and the greater value counts. The second page also
// holds the skipped times.
//
// Used in this order: open_ceiling(), second_page_extend() of sequence_page.hpp, lock_pages(),
// read_pages(), store_on_pages(), unlock_pages().
//
// Shared: both pages, guarded by the content locks of their buffers, which are taken in the order
// of their blocks. The second one is made by the first session that writes the ceiling to a
// storage, under the relation's extension lock.
#pragma once

#include "pg/postgres.hpp"

#include "core/skipped_times.hpp"
#include "core/types.hpp"
#include "pg/sequence_page.hpp"

extern "C" {
#include "storage/buf.h"
#include "utils/rel.h"
}

namespace snowid::pg {

inline constexpr char kCeilingName[] = "ceiling";

// The sequence that this session uses; InvalidOid if it is to be looked up.
extern Oid ceiling_relid;

// Opens the sequence in RowExclusiveLock. Returns nullptr with kEarly if it would have to wait for
// that lock. Raises: 55000 if the sequence is missing, or not a permanent sequence.
Relation open_ceiling(Urgency urgency);

// Whether this transaction has created the sequence, which no other session sees yet.
inline bool is_made_here(Relation relation) {
  return relation->rd_createSubid != InvalidSubTransactionId;
}

// Whether a subscription of this database brings the sequence's value. Reads a catalog.
bool is_set_by_subscription(Relation relation);

struct CeilingPages {
  SequencePage sequence;
  Buffer second;  // InvalidBuffer if there is none
};

// Pins both pages and locks them in exclusive mode; and the reverse. Requires: only read_pages()
// and store_on_pages() are called between the two.
CeilingPages lock_pages(Relation relation);
void unlock_pages(const CeilingPages& pages);

// The contents of the pages.
struct StoredCeiling {
  core::UnixMillis ceiling;  // the greater of the two
  core::UnixMillis own;      // that of the second page, or of the first if there is but one
  bool are_alike;            // whether both hold the same, or there is but one
  core::SkippedTimes skipped;
};

// Raises: 0A000 if the second page is of another version.
StoredCeiling read_pages(const CeilingPages& pages);

// Stores a ceiling in both pages, and skipped times in the second one, in place of what they hold.
// Returns the end of the WAL record for sequence_make_durable(); InvalidXLogRecPtr if the commit
// syncs the file. Raises: errors of the generic WAL API.
XLogRecPtr store_on_pages(const CeilingPages& pages, core::UnixMillis ceiling,
                          const core::SkippedTimes& skipped);

// Opens the sequence and reads its pages; on a standby, as far as WAL has been replayed. Raises:
// what open_ceiling() and read_pages() raise.
StoredCeiling ceiling_read();

}  // namespace snowid::pg
