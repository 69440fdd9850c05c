// What a server keeps of a database that issues IDs, except its shards (shard_state.hpp): its
// ceiling, whether it may issue IDs, its node number, counts.
//
// Used in this order: database_attach(), by the first ID of a session; shared_number_recall() and,
// if that finds nothing, shared_number_store(), by who needs the node number; check_may_issue(), by
// an ID on the slow path. What changes the node number, or what it is learned from, calls
// shared_number_change_with_transaction(); what stops the node calls recheck_may_issue().
//
// Shared: Database, one for each database, an entry of the table "databases". A session that issues
// IDs is counted in as a user of its database's entry until it exits. When a database was dropped,
// a sweep removes its entry with the last of its shards (ids/shard_sweep.cpp).
//
// Database::number is one word, changed by compare-and-swap. It holds how often the node number has
// changed, and the number if a session has stored it since: learning it reads several catalogs. A
// change of what the number is learned from is counted at once, and a second time at the end of the
// transaction, so that a number that was learned before, and is stored after that, is not taken.
#pragma once

#include "pg/compat.hpp"
#include "pg/shmem/shared_table.hpp"

// The number of the family's ABI: of the form of Database and Slot, and of what their fields mean.
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 8
#endif

namespace snowid::pg {

// Kinds of events that are logged, see ids/id_stats.hpp.
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
  // The end of the WAL record of that, InvalidXLogRecPtr if there is none to wait for.
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

// The skipped times (core/skipped_times.hpp), copied from the ceiling's page, and whether there are
// any. They are written by the first session that reads the page, with the ceiling's lock held, and
// by ceiling_set_back() while no other session is connected. So once has_any is true the ranges can
// be read without a lock.
struct SharedSkippedTimes {
  core::SkippedTimes times;
  std::atomic<bool> has_any;
};

// Counts of raises, for statistics: no promise rests on them.
struct RaiseCounts {
  std::atomic<uint64_t> raises;     // how often the ceiling was raised
  std::atomic<uint64_t> flushes;    // and a session waited for WAL to be flushed for that
  std::atomic<int64_t> flushes_us;  // for how long in all
  std::atomic<int64_t> logged_us;   // when a slow one was last logged, see may_log()
};

// Events that are counted, since the start of the server or the last reset, see ids/id_stats.hpp.
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
  // and the floor only grow, except that snowid.return_to_clock() lowers them.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
  std::atomic<uint64_t> number;  // the node number, see number_word
  // The transaction that has written the row of pg_database, see database_may_be_another().
  std::atomic<uint32_t> row_xmin;
  // Statistics, see ids/id_stats.hpp. Only the first, which hardly ever changes, is in the cache
  // line of what every ID reads.
  std::atomic<int64_t> reset_us;  // when they were reset, as Unix microseconds; 0 for never
  std::atomic<int64_t> clock_us;  // about the latest time that any session has read from the clock
  RaiseCounts raises;
  // When each kind of event was last logged, in microseconds of a clock that cannot be set; 0 for
  // never.
  std::atomic<int64_t> logged_us[kEventKinds];
  EventCounts events;

  SharedSkippedTimes skipped;
  // The longest unit of time that any slot of it may have, in microseconds.
  std::atomic<int64_t> longest_unit_us;
  // Whether it is known that this database may issue IDs, see check_may_issue().
  std::atomic<bool> may_issue;
  // The time of the last watermark, see ids/watermark.cpp. A new slot starts above it, too.
  std::atomic<int64_t> watermark_us;
};

SNOWID_PIN_SIZE(Ceiling, kLockSize + 48);
SNOWID_PIN_SIZE(core::SkippedTimes, 520);
SNOWID_PIN_SIZE(SharedSkippedTimes, 528);
SNOWID_PIN_SIZE(RaiseCounts, 32);
SNOWID_PIN_SIZE(EventCounts, 40);
SNOWID_PIN(Database, ceiling, 8);
SNOWID_PIN(Database, reset_us, kLockSize + 88);
SNOWID_PIN(Database, skipped, kLockSize + 208);
SNOWID_PIN_SIZE(Database, kLockSize + 760);

// The table of databases. Sweeps of slots look at all of its entries.
extern SharedTable databases;

// This session's database; nullptr before database_attach().
extern Database* shared_database;

// The ceiling that this session uses, from database_attach() on: that of the entry, or of its
// transaction alone (ceiling/ceiling.hpp).
extern Ceiling* my_ceiling;

// Database::number of this database; before database_attach(), a word of this process's own.
extern std::atomic<uint64_t>* number_word;

// The changes in that word; below them is the number plus 1, or 0 if it is not known.
constexpr int kSharedNumberBits = 16;
constexpr uint64 changes_of(uint64 word) noexcept { return word >> kSharedNumberBits; }

// Finds or makes the entry of this database, and counts this session in. Later calls cost next to
// nothing. Raises: 55000 if a library with another ABI number is in use; an error of class 53 if
// there is no memory. It can be called again then.
void database_attach();

// Called by module.cpp.
void at_exit_database();

// Whether the entry may be that of a dropped database which had the same OID as this one: CREATE
// DATABASE may be given one. (After ALTER DATABASE this is true as well, which does no harm.) The
// node number in the entry was then forgotten, and open slots may be of shards that are closed in
// this database. database_confirm() says that the caller has closed those.
bool database_may_be_another();
void database_confirm();

// Makes every session check with its next ID whether this database may issue IDs, and learn the
// node number anew. Raises: what database_attach() raises.
void recheck_may_issue();

// Whether this transaction has changed the node number, so that it sees another one than other
// sessions.
bool has_changed_number() noexcept;

// The node number that a session has stored since it changed last. Returns false if none has; in a
// transaction that has changed it; and in a parallel worker and during recovery, where it is not
// known whether it has. Raises: 55000 if a library with another ABI number is in use; an error of
// class 53 if there is no memory.
bool shared_number_recall(int64* number);

// Stores the node number, unless it has changed since `changes` were counted. Requires: number is 0
// or more; one that the word has no room for is not stored.
void shared_number_store(uint64 changes, int64 number);

// Counts a change now, so that all sessions of this database learn the number anew with their next
// ID, also in the middle of a statement; and at the end of this transaction, when others see it.
// Requires: the caller does not let this transaction be prepared (xact.hpp), since the
// commit of a prepared one is not noticed. Raises: 55000 if a library with another ABI number is in
// use; an error of class 53 if there is no memory.
void shared_number_change_with_transaction();

// Called by module.cpp.
void at_eoxact_shared_number(XactEvent event);

// Whether this database may issue IDs, by what it knows of itself as a node. fails: whether to
// raise 55000 if it may not. May look at catalogs. Defined in nodes/node_number.cpp.
bool node_may_issue(bool fails);

// Calls node_may_issue(), and notes in shared memory if it returns true: it need not be called
// again before recheck_may_issue(). In a transaction that has changed the node number nothing is
// noted. Raises, if `fails`: 55000 if this database may not issue IDs.
void check_may_issue(bool fails);

// Raises a time to `to_us`, unless it is at or above that. A process that reads the time with
// memory_order_acquire sees what was written before it was raised.
inline void raise_time(std::atomic<int64_t>* time_us, int64_t to_us) noexcept {
  int64_t was = time_us->load(std::memory_order_relaxed);
  while (was < to_us && !time_us->compare_exchange_weak(was, to_us, std::memory_order_acq_rel)) {
  }
}

}  // namespace snowid::pg
