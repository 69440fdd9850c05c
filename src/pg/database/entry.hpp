// What a server keeps of a database that issues IDs, beside its slots.
//
// Shared: Database, one for each database, an entry of the table "databases". A session that issues
// IDs is counted in as a user of its database's entry until it exits. When a database was dropped,
// a sweep removes its entry with the last of its slots, see ids/slot_sweep.cpp.
#pragma once

#include "pg/compat.hpp"
#include "pg/shmem/shared_table.hpp"

// The number of the family's ABI: of the form of Database and Slot, and of what their fields mean.
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 8
#endif

namespace snowid::pg {

// Kinds of events that are logged, see ids/events.hpp.
enum class EventKind : uint8_t { kClockSetBack, kLongWait, kRefusal, kLayoutEnds };
inline constexpr int kEventKinds = 4;

struct Ceiling {
  // Held, in exclusive mode, to raise the ceiling. It guards the next four fields and the storing
  // of ceiling_us. The other times are also raised without it, by compare-and-swap; all are read
  // without it.
  LWLock lock;
  Oid relation;      // the sequence that the ceiling is durable in, InvalidOid before the first use
  FileNumber file;   // and its storage, which ALTER SEQUENCE may replace
  int64 written_us;  // what the sequence holds, as far as this server knows; the ceiling or more
  // The end of the WAL record of that, InvalidXLogRecPtr where there is none to wait for.
  XLogRecPtr written_lsn;
  // No ID may be issued with a time above this one. Durable before it is stored here.
  std::atomic<int64_t> ceiling_us;
  // Never above the ceiling. Before a session issues an ID with a time above this one it raises the
  // ceiling, or has seen that another session does. It is released after ceiling_us, and after
  // may_issue of the database: a session that acquires it sees those.
  std::atomic<int64_t> alert_us;
  // The floor: every time up to this one may have been used, so a new slot starts above it.
  std::atomic<int64_t> floor_us;
};

// The wild times (core/wild.hpp), copied from the ceiling's page, and whether there are any. They
// are written by the first session that reads the page, with the lock held, and by
// ceiling_set_back() while no other session is connected. So once has_any is true the ranges can be
// read without a lock.
struct SharedWild {
  core::WildTimes times;
  std::atomic<bool> has_any;
};

// Statistics, see ceiling/raises.hpp.
struct RaiseCounts {
  std::atomic<uint64_t> raises;     // how often the ceiling was raised
  std::atomic<uint64_t> flushes;    // and somebody waited for WAL to be flushed for that
  std::atomic<int64_t> flushes_us;  // for how long in all
  std::atomic<int64_t> logged_us;   // when a slow one was last logged, see may_log()
};

// Events that are counted, since the start of the server or the last reset, see ids/events.hpp.
struct EventCounts {
  std::atomic<uint64_t> waits;    // callers that waited for the clock
  std::atomic<int64_t> waits_us;  // for how long in all
  std::atomic<uint64_t> refusals;
  std::atomic<uint64_t> clock_steps_back;
  // How far ahead of the clock IDs were at most, of those that were issued on the slow path.
  std::atomic<int64_t> max_lead_us;
};

struct Database {
  Oid oid;  // the key
  std::atomic<uint32_t> users;

  Ceiling ceiling;
  // Sweeps may have removed slots whose last unit of time had ended by swept_us, and had begun by
  // swept_ceiling_us, the ceiling when it was swept. A new slot starts above all of those. They
  // and the floor only grow, but for rewinding, which is done alone.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
  std::atomic<uint64_t> number;  // the node's number, see number_word
  // The transaction that has written the row of pg_database, see database_may_be_another().
  std::atomic<uint32_t> row_xmin;
  // Statistics, see ids/events.hpp. Only the first, which hardly ever changes, is in the cache line
  // of what every ID reads.
  std::atomic<int64_t> reset_us;  // when they were reset, as Unix microseconds; 0 where never
  std::atomic<int64_t> clock_us;  // about the latest time that any session has read from the clock
  RaiseCounts raises;
  // When each kind of event was last logged, in microseconds of a clock that cannot be set; 0 for
  // never.
  std::atomic<int64_t> logged_us[kEventKinds];
  EventCounts events;

  SharedWild wild;
  // The longest unit of time that any slot of it may have, in microseconds.
  std::atomic<int64_t> longest_unit_us;
  // Whether it is known that this database may issue IDs, see shared_number.hpp.
  std::atomic<bool> may_issue;
  // The time of the last watermark, see ids/watermark.cpp. A new slot starts above it, too.
  std::atomic<int64_t> watermark_us;
};

SNOWID_PIN(Ceiling, lock, 0);
SNOWID_PIN(Ceiling, relation, kLockSize);
SNOWID_PIN(Ceiling, file, kLockSize + 4);
SNOWID_PIN(Ceiling, written_us, kLockSize + 8);
SNOWID_PIN(Ceiling, written_lsn, kLockSize + 16);
SNOWID_PIN(Ceiling, ceiling_us, kLockSize + 24);
SNOWID_PIN(Ceiling, alert_us, kLockSize + 32);
SNOWID_PIN(Ceiling, floor_us, kLockSize + 40);
SNOWID_PIN_SIZE(Ceiling, kLockSize + 48);
SNOWID_PIN(core::Wild, from, 0);
SNOWID_PIN(core::Wild, until, 8);
SNOWID_PIN_SIZE(core::Wild, 16);
SNOWID_PIN(core::WildTimes, count, 0);
SNOWID_PIN(core::WildTimes, at, 8);
SNOWID_PIN_SIZE(core::WildTimes, 520);
SNOWID_PIN(SharedWild, times, 0);
SNOWID_PIN(SharedWild, has_any, 520);
SNOWID_PIN_SIZE(SharedWild, 528);
SNOWID_PIN(RaiseCounts, raises, 0);
SNOWID_PIN(RaiseCounts, flushes, 8);
SNOWID_PIN(RaiseCounts, flushes_us, 16);
SNOWID_PIN(RaiseCounts, logged_us, 24);
SNOWID_PIN_SIZE(RaiseCounts, 32);
SNOWID_PIN(EventCounts, waits, 0);
SNOWID_PIN(EventCounts, waits_us, 8);
SNOWID_PIN(EventCounts, refusals, 16);
SNOWID_PIN(EventCounts, clock_steps_back, 24);
SNOWID_PIN(EventCounts, max_lead_us, 32);
SNOWID_PIN_SIZE(EventCounts, 40);
SNOWID_PIN(Database, oid, 0);
SNOWID_PIN(Database, users, 4);
SNOWID_PIN(Database, ceiling, 8);
SNOWID_PIN(Database, swept_us, kLockSize + 56);
SNOWID_PIN(Database, swept_ceiling_us, kLockSize + 64);
SNOWID_PIN(Database, number, kLockSize + 72);
SNOWID_PIN(Database, row_xmin, kLockSize + 80);
SNOWID_PIN(Database, reset_us, kLockSize + 88);
SNOWID_PIN(Database, clock_us, kLockSize + 96);
SNOWID_PIN(Database, raises, kLockSize + 104);
SNOWID_PIN(Database, logged_us, kLockSize + 136);
SNOWID_PIN(Database, events, kLockSize + 168);
SNOWID_PIN(Database, wild, kLockSize + 208);
SNOWID_PIN(Database, longest_unit_us, kLockSize + 736);
SNOWID_PIN(Database, may_issue, kLockSize + 744);
SNOWID_PIN(Database, watermark_us, kLockSize + 752);
SNOWID_PIN_SIZE(Database, kLockSize + 760);

// The table of databases. Declared here because sweeps of slots look at all of its entries.
extern SharedTable databases;

// This session's database, from database_attach() on.
extern Database* shared_database;

// The ceiling that this session uses, from database_attach() on: the shared ceiling, or its own
// stand-in (ceiling/state.hpp).
extern Ceiling* my_ceiling;
// The shared ones, whether or not there is a stand-in.
extern Ceiling* shared_ceiling;
extern SharedWild* shared_wild;
extern RaiseCounts* raise_counts;

// Finds or makes the shared entry, and counts this session in. Later calls cost next to nothing.
// Fails as table_attach() does; then it can be called again.
void database_attach();

// Called by module.cpp.
void at_exit_database();

// Whether the entry may be that of a dropped database which had the same OID as this one: CREATE
// DATABASE may be given one. (After ALTER DATABASE this is true as well, which does no harm.) The
// node's number in the entry was then forgotten, and open slots may be of shards that are closed
// here. database_confirm() says that the caller has closed those.
bool database_may_be_another();
void database_confirm();

// Database::number of this database; before database_attach(), a word of this process's own.
extern std::atomic<uint64_t>* number_word;

// What the word holds: how often the node's number became another one, and below that the number
// itself, see shared_number.hpp.
constexpr int kSharedNumberBits = 16;
constexpr uint64 changes_of(uint64 word) noexcept { return word >> kSharedNumberBits; }

// Adds one to the changes, and forgets the number.
void count_number_change() noexcept;

// Makes every session check with its next ID whether this database may issue IDs
// (shared_number.hpp), and learn the node's number anew. Fails as table_attach() does.
void recheck_may_issue();

// Raises a time to `to_us`, unless it is at or above that. A process that reads the time with
// memory_order_acquire sees what was written before it was raised.
inline void raise_time(std::atomic<int64_t>* time_us, int64_t to_us) noexcept {
  int64_t was = time_us->load(std::memory_order_relaxed);
  while (was < to_us && !time_us->compare_exchange_weak(was, to_us, std::memory_order_acq_rel)) {
  }
}

}  // namespace snowid::pg
