// The wild times of a database (core/wild.hpp), as the table snowid.rewinds has them: where its
// rows are read, and how IDs step over such a time when the clock has come to it.
//
// Until then the alert ends a unit of time before the interval, the longest that any slot has. So
// the quick path, which knows nothing of all this, issues nothing that touches it. On the slow path
// the first session whose clock has come to it lifts all slots of the database above it, durably;
// from then on no clock can bring any of them back. A unit that has begun before waits.
//
// Shared: Database::wild, under Database::lock, to which intervals are added, and never removed;
// and the table. Its lock is taken after the ceiling's relation, and before Database::lock.
#pragma once

#include "pg/ids/database.hpp"

namespace snowid::pg {

// Adds what the table's rows say to the shared entry, where they may not be known: it is new, or
// somebody has rewound, or has inserted rows. No LWLock may be held. Fails with 55000 where there
// is no such table.
void wild_learn();

// 55000 in the transaction that has rewound: others would go by what may yet be rolled back. For
// who has the lock of the ceiling's relation, so that where it was another one, it has ended.
void require_not_rewinding();

// The wild times; and, for who holds shared_database->lock or my_database->lock, which need not be
// the same, with them those that rows say which have been committed: a transaction that rewinds has
// its own interval in the shared entry before that, and leaves it there where it is rolled back.
core::WildTimes WildTimesNow();
struct KnownWild {
  core::WildTimes all;
  core::WildTimes settled;
};
KnownWild wild_times_locked();

// Up to where the alert may go while the ceiling is at `ceiling`.
int64 WildAlert(const core::WildTimes& times, core::UnixMicros ceiling);

// Whether a time is wild and the ceiling has not come to it. Fails as ceiling_learn() does.
bool is_rewound(core::UnixMicros moment);

// What counts as the clock at `clock`, which others compare IDs' times with: later where IDs step
// over a wild time.
core::UnixMicros ClockPastWild(core::UnixMicros clock);

// Whether it is for wild times that are being stepped over that slots are lifted to a moment.
bool IsPastWild(core::UnixMicros moment);

// How a draw of a layout goes about wild times.
struct WildStep {
  core::UnixMicros clock;
  core::UnixMicros now;    // what counts as the clock
  core::UnixMicros limit;  // no unit of time may begin after this
  core::UnixMicros alert;  // where the alert ends
  core::UnixMicros from;   // when the clock is here IDs go on above the wild time
};

// For a draw now. If the clock has come to a wild time, this lifts all slots of the database above
// it, as ceiling_step_over() does, and fails as that does. is_common: of a kind that all databases
// share, which goes by the clock through all times: other bits keep its IDs apart.
WildStep wild_step(const core::Layout& layout, bool is_common);

// Whoever makes a slot says so before: no alert is later than the slot's units allow.
void note_unit(const core::Layout& layout);

// Has the alert be no later than the units of all slots allow. Who moves it on without the lock
// calls this afterwards: a longer one may have become known in between. (So both store first, and
// look then.)
void LowerAlert(Database* database, const core::WildTimes& times);

}  // namespace snowid::pg
