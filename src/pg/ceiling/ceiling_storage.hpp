// The storage of the ceiling: the sequence snowid_internal.ceiling, and a second page in its file.
//
// pg_dump restores the sequence's own page by setval, which may lower it in a database in use. No
// setval and no dump changes the second page. One WAL record raises both, and the greater value
// counts. The second page also holds the skipped times.
//
// Used in this order: open_ceiling(), second_page_extend(), lock_pages(), and the rest.
//
// Shared: both pages, guarded by their content locks, taken in the order of blocks. The first
// writer to a storage creates the second page, under the relation's extension lock.
#pragma once

#include "pg/postgres.hpp"

#include "core/skipped_times.hpp"
#include "pg/sequence_page.hpp"

extern "C" {
#include "storage/buf.h"
#include "utils/rel.h"
}

namespace snowid::pg {

inline constexpr char kCeilingName[] = "ceiling";

// The sequence used by this session, InvalidOid to look it up.
extern Oid ceiling_relid;

// Opens the sequence in RowExclusiveLock, or returns nullptr with kEarly if the lock is not free.
// Raises: 55000 if the sequence is missing or not permanent.
Relation open_ceiling(Urgency urgency);

// Reads a catalog.
bool is_set_by_subscription(Relation relation);

struct CeilingPages {
  SequencePage sequence;
  Buffer second;  // InvalidBuffer if there is none
};

// Pins and exclusively locks both pages, for read_pages() and store_on_pages(); the reverse.
CeilingPages lock_pages(Relation relation);
void unlock_pages(const CeilingPages& pages);

struct StoredCeiling {
  core::UnixMillis ceiling;  // the greater of the two
  core::UnixMillis own;      // that of the second page, or of the only one
  bool are_alike;            // whether both are the same, or there is one page
  core::SkippedTimes skipped;
};

// Raises: 0A000 if the second page has another version.
StoredCeiling read_pages(const CeilingPages& pages);

// Replaces the ceiling on both pages, and the skipped times on the second. Returns the WAL record's
// end for sequence_make_durable(), InvalidXLogRecPtr if the commit syncs the file.
XLogRecPtr store_on_pages(const CeilingPages& pages, core::UnixMillis ceiling,
                          const core::SkippedTimes& skipped);

// On a standby, as replayed so far. Raises: as open_ceiling() and read_pages().
StoredCeiling ceiling_read();

}  // namespace snowid::pg
