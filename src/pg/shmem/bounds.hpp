// Bounds on the shared memory of a database and of the server: users choose shards and sequences.
//
// In the order of use: quota_attach(); quota_make_room(), or bound_of() and begin_sweep();
// usage_lock(), count_made() or count_gone(), usage_unlock().
//
// Shared: for each kind of entry a table of Usage, by database; the server's is never deleted. To
// create or delete an entry, a session locks the partition of its database's usage, then that of
// the entry: no error can occur between the change and its counting. Bounds are checked before
// locking, so concurrent sessions may exceed one by an entry each.
#pragma once

#include "pg/postgres.hpp"

#include "pg/shmem/shared_table.hpp"

namespace snowid::pg {

// The usage of a database; of the server under InvalidOid. Deleted at 0, except the server's. An
// error can leave one behind, which is harmless.
struct Usage {
  Oid database;
  std::atomic<uint32_t> count;
  std::atomic<int64_t> swept_us;  // the last sweep for its bound
  // Of the server: its count after the last sweep of dropped objects.
  std::atomic<uint32_t> swept_count;
  // Of the server, for keys of sections: the slots of their tables.
  std::atomic<uint32_t> key_slots;
};

SNOWID_PIN_SIZE(Usage, 24);

struct Bounds {
  uint64 server;
  uint64 database;
};

// A bounded kind of entry, such as slots.
struct Quota {
  Bounds (*bounds)();
  SharedTable usages;
  Usage* server;  // nullptr before quota_attach()
};
constexpr Quota make_quota(Bounds (*bounds)(), const char* table) noexcept {
  return {bounds, {table, SNOWID_SHARED_ABI, sizeof(Oid), sizeof(Usage)}, nullptr};
}

// Required by the functions below. Later calls cost next to nothing. Raises: 55000 if a library
// with another ABI number created the usages; class 53 if memory is short.
void quota_attach(Quota* quota);

// Requires: no partition of the usages is locked.
uint32 count_of_server(const Quota& quota) noexcept;
uint32 count_of_database(const Quota& quota, Oid database);

enum class Bound : uint8_t { kNone, kDatabase, kServer };

// The bound that `more` entries would exceed, or kNone. Requires: no LWLock is held.
Bound bound_of(const Quota& quota, uint64 more = 1);

// Attaches, and returns the bound that another entry would exceed, after `sweep` if begin_sweep()
// allows it, which removes unused entries with is_within(). Raises: as quota_attach().
Bound quota_make_room(Quota* quota, void (*sweep)(Bound bound));

// errdetail() and errhint() of the error 53400 for this bound.
int errdetail_full(const Quota& quota, Bound bound);

// Whether this session may sweep for a bound: one may every 100 ms, per database or server.
bool begin_sweep(const Quota& quota, Bound bound);

// Whether an entry of a database counts toward the bound reached. A sweep removes only those, and
// dropped objects: one database must not cost other databases their entries.
bool is_within(Bound bound, Oid database) noexcept;

// Whether the server has `by` more entries than at the last note_swept().
bool has_grown(const Quota& quota, uint64 by) noexcept;
void note_swept(const Quota& quota) noexcept;

// Locks a database's usage, created if there is none; adds to it and to the server's, or subtracts;
// unlocks it. usage_lock() raises: class 53 if memory is short.
Usage* usage_lock(const Quota& quota, Oid database);
void count_made(const Quota& quota, Usage* usage, uint32 count = 1) noexcept;
void count_gone(const Quota& quota, Usage* usage, uint32 count = 1) noexcept;
void usage_unlock(const Quota& quota, Usage* usage);

}  // namespace snowid::pg
