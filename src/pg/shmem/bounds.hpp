// Bounds on how much of shared memory a database may use. Callers choose shards and sequences, so
// without bounds one database could use all of it.
//
// For each kind of entry there is a greatest number for a database, and one for the server, which
// is a few times as many.
//
// Shared: for each kind a table of Usage: an entry for each database that has some, and one for the
// server, which is never deleted. To make or delete something, a session locks the partition of its
// database's usage, then that of the thing itself: nothing can fail between the change of the
// entry and that of the counts. The server's count is changed with no lock of its own: counts are
// atomics. The counts are compared with the bounds before anything is locked, so sessions that do
// so at once may exceed a bound by one thing each.
#pragma once

#include "pg/shmem/shared_table.hpp"

namespace snowid::pg {

// What a database has; under InvalidOid, what the server has. An entry whose count is 0 is deleted,
// except the server's. An error can leave one behind, which does no harm.
struct Usage {
  Oid database;
  std::atomic<uint32_t> count;
  // When things were last swept for the bound of the database, or of the server, as Unix
  // microseconds.
  std::atomic<int64_t> swept_us;
  // Of the server alone: its count when things of what was dropped were last swept.
  std::atomic<uint32_t> swept_count;
};

SNOWID_PIN(Usage, database, 0);
SNOWID_PIN(Usage, count, 4);
SNOWID_PIN(Usage, swept_us, 8);
SNOWID_PIN(Usage, swept_count, 16);
SNOWID_PIN_SIZE(Usage, 24);

// How many of a thing there may be.
struct Bounds {
  uint64 server;
  uint64 database;
};

// A kind of entry that is bounded, such as slots. Belongs to one process, except the usages.
struct Quota {
  const char* counted;  // what there are too many of, in the error that a bound is reached
  Bounds (*bounds)();
  SharedTable usages;
  Usage* server;  // nullptr before quota_attach()
};

// A quota whose usages are in the table of this name.
constexpr Quota make_quota(const char* counted, Bounds (*bounds)(), const char* table) noexcept {
  return {counted,
          bounds,
          {{table, SNOWID_SHARED_ABI, sizeof(Oid), sizeof(Usage), nullptr}, nullptr},
          nullptr};
}

// Attaches to the usages, which the functions below need. Later calls cost next to nothing.
// Raises: 55000 if a library with another ABI number has made them; class 53 without memory.
void quota_attach(Quota* quota);

// What the server, or a database, has. No partition of the usages may be locked by this session.
uint32 count_of_server(const Quota& quota) noexcept;
uint32 count_of_database(const Quota& quota, Oid database);

// The bound that is reached.
enum class Bound : uint8_t { kNone, kDatabase, kServer };

// The bound that keeps this database from having `more` things more, kNone where it may. No LWLock
// may be held.
Bound bound_of(const Quota& quota, uint64 more = 1);

// Attaches to the usages, and makes sure that this database may have one thing more. Where a bound
// is reached it first calls `sweep`, which removes things that nobody uses and for which
// is_within() holds, unless another session did so in the last 100 ms.
// Raises: 53400 if the bound is still reached; 55000 if a library with another ABI number has made
// the usages; class 53 without memory.
void quota_require_room(Quota* quota, void (*sweep)(Bound bound));

// Whether this session may sweep for a bound that it has reached. If so, no other session may for
// 100 ms: of any database for the bound of the server, of this one for its own. So errors do not
// cost other sessions much.
bool begin_sweep(const Quota& quota, Bound bound);

// Whether a thing of a database counts for the bound that this session has reached. A sweep removes
// nothing else, except what was dropped: a database that has used up its share must not cost others
// theirs. For kNone that is nothing.
bool is_within(Bound bound, Oid database) noexcept;

// Whether the server has `by` things more than when a session last called note_swept().
bool has_grown(const Quota& quota, uint64 by) noexcept;
void note_swept(const Quota& quota) noexcept;

// Locks the usage of a database, made if there is none. Raises: class 53 without memory.
Usage* usage_lock(const Quota& quota, Oid database);

// Adds to what is locked and to the server's count, or subtracts from them. Never fail.
void count_made(const Quota& quota, Usage* usage, uint32 count = 1) noexcept;
void count_gone(const Quota& quota, Usage* usage, uint32 count = 1) noexcept;

// Unlocks the usage, and deletes it where its count is 0.
void usage_unlock(const Quota& quota, Usage* usage);

}  // namespace snowid::pg
