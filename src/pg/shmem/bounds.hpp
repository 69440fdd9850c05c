// Bounds on how much of shared memory a database, and all of them, may use: callers choose shards
// and sequences. For each kind of entry there is a quota.
//
// Called in this order: quota_attach(); quota_make_room(), or bound_of() and begin_sweep();
// usage_lock(), count_made() or count_gone(), usage_unlock().
//
// Shared: for each kind a table of Usage: an entry for each database that has some, and one for the
// server, which is never deleted. To make or delete something, a session locks the partition of its
// database's usage, then that of the thing itself: nothing can fail between the change of the
// entry and that of the counts, which are atomics. The counts are compared with the bounds before
// anything is locked, so sessions that do so at once may exceed a bound by one thing each.
#pragma once

#include "pg/postgres.hpp"

#include "pg/shmem/shared_table.hpp"

namespace snowid::pg {

// What a database has; under InvalidOid, what the server has. An entry whose count is 0 is deleted,
// except the server's. An error can leave one behind, which does no harm.
struct Usage {
  Oid database;
  std::atomic<uint32_t> count;
  std::atomic<int64_t> swept_us;  // when things were last swept for its bound
  // Of the server alone: its count when things of what was dropped were last swept.
  std::atomic<uint32_t> swept_count;
  // Of the server and keys of sections alone: the slots that their tables have.
  std::atomic<uint32_t> key_slots;
};

SNOWID_PIN_SIZE(Usage, 24);

struct Bounds {
  uint64 server;
  uint64 database;
};

// A kind of entry that is bounded, such as slots; and one whose usages are in the table of this
// name.
struct Quota {
  Bounds (*bounds)();
  SharedTable usages;
  Usage* server;  // nullptr before quota_attach()
};
constexpr Quota make_quota(Bounds (*bounds)(), const char* table) noexcept {
  return {bounds, {table, SNOWID_SHARED_ABI, sizeof(Oid), sizeof(Usage)}, nullptr};
}

// Attaches to the usages, which the functions below require. Later calls cost next to nothing.
// Raises: 55000 if a library with another ABI number has made them; class 53 without memory.
void quota_attach(Quota* quota);

// What the server, or a database, has. Requires: no partition of the usages is locked.
uint32 count_of_server(const Quota& quota) noexcept;
uint32 count_of_database(const Quota& quota, Oid database);

// The bound that is reached.
enum class Bound : uint8_t { kNone, kDatabase, kServer };

// The bound that keeps this database from having `more` things more, kNone if it may. Requires: no
// LWLock is held.
Bound bound_of(const Quota& quota, uint64 more = 1);

// Attaches to the usages. Returns the bound that keeps this database from having one thing more, as
// bound_of() does. If one does it first calls `sweep`, which removes things that no session uses
// and for which is_within() holds, if begin_sweep() allows that. Raises: what quota_attach()
// raises.
Bound quota_make_room(Quota* quota, void (*sweep)(Bound bound));

// The errdetail() and the errhint() of an error (53400) that this bound is reached.
int errdetail_full(const Quota& quota, Bound bound);

// Whether this session may sweep for a bound that it has reached. If so, no other session may for
// 100 ms: of any database for the bound of the server, of this one for its own.
bool begin_sweep(const Quota& quota, Bound bound);

// Whether a thing of a database counts for the bound that this session has reached: nothing does
// for kNone. A sweep removes nothing else, except what was dropped: a database that has exhausted
// its share must not cost others theirs.
bool is_within(Bound bound, Oid database) noexcept;

// Whether the server has `by` things more than when a session last called note_swept().
bool has_grown(const Quota& quota, uint64 by) noexcept;
void note_swept(const Quota& quota) noexcept;

// Locks the usage of a database, made if there is none; adds to it and to the server's, or
// subtracts; and unlocks it. The first raises: class 53 without memory.
Usage* usage_lock(const Quota& quota, Oid database);
void count_made(const Quota& quota, Usage* usage, uint32 count = 1) noexcept;
void count_gone(const Quota& quota, Usage* usage, uint32 count = 1) noexcept;
void usage_unlock(const Quota& quota, Usage* usage);

}  // namespace snowid::pg
