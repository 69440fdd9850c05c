// The shared state of a database that issues IDs: its entry, with the ceiling, the node number and
// counts; and its slots, each the state of a shard.
//
// Used in this order: shared_number_recall(), which attaches, and, if that finds nothing,
// shared_number_store(), by users of the node number; slots_attach(), by a session's first ID of a
// named shard; start_tick_of() and my_start_tick(), by functions that make or remove slots
// (ids/shards.cpp); lift_slots(), by the ceiling when it raises the floor; check_may_issue(), by an
// ID on the slow path; open_slot(), by shards that move. What changes the node number, or what it
// is learned from, calls shared_number_change_with_transaction(); what stops the node calls
// recheck_may_issue().
//
// Shared: Database, an entry of the table "databases" for each database, in which a session that
// issues IDs counts as a user until it exits; and Slot, an entry of the table "slots" for each
// (database, layout, shard), and a few that all databases share, for the kinds of ID that know no
// shard. A session is a user of each slot that it keeps a pointer to; those that all databases
// share have no users, and are never deleted. A slot's tick is moved as core/tick.hpp describes,
// without a lock; a session that opens a closed slot holds Ceiling::lock, and the locks described
// in ids/shards.hpp.
//
// Locks are taken in this order: Ceiling::lock, the partition of "databases", that of the usage of
// slots (shmem/bounds.hpp), that of "slots".
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "core/skipped_times.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"
#include "pg/shmem/shared_table.hpp"

extern "C" {
#include "access/xact.h"
#include "storage/lwlock.h"
}

// The ABI number of Database and Slot.
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 9
#endif

namespace snowid::pg {

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

// The skipped times (core/skipped_times.hpp), copied from the ceiling's page. They are written by
// the first session that reads the page, with the ceiling's lock held, and by ceiling_set_back()
// while no other session is connected: once has_any is true they can be read without a lock.
struct SharedSkippedTimes {
  core::SkippedTimes times;
  std::atomic<bool> has_any;
};

// Counts since the start of the server or the last reset; and kinds of logged events
// (ids/id_stats.hpp). No promise rests on them.
enum Count : uint8_t {
  kRaises,   // of the ceiling
  kFlushes,  // of WAL that a session waited for to raise it
  kFlushUs,  // for how long in all
  kWaits,    // callers that waited for the clock
  kWaitUs,   // for how long in all
  kErrors,   // callers that got an error instead of an ID
  kBackwardSteps,
  kMaxLeadUs,  // how far ahead of the clock an ID was at most, of those of the slow path
  kCounts
};
enum Logged : uint8_t {
  kLoggedStep,
  kLoggedWait,
  kLoggedRefusal,
  kLoggedEnd,
  kLoggedFlush,
  kLogged
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
  // How often the node number has changed, and the number if a session has stored it since:
  // learning it reads several catalogs. A change of what it is learned from is counted at once, and
  // a second time at the end of the transaction: a number that was learned before, and is stored
  // after that, is not taken.
  std::atomic<uint64_t> number;
  // The transaction that has written the row of pg_database, see database_may_be_another().
  std::atomic<uint32_t> row_xmin;
  // Statistics. Only the first, which hardly ever changes, is in the cache line of what every ID
  // reads.
  std::atomic<int64_t> reset_us;  // when they were reset, as Unix microseconds; 0 for never
  std::atomic<int64_t> clock_us;  // about the latest time that any session has read from the clock
  std::atomic<int64_t> counts[kCounts];
  std::atomic<int64_t> logged_us[kLogged];  // when each was last logged, see may_log()

  SharedSkippedTimes skipped;
  // The longest unit of time that any slot of it may have, in microseconds.
  std::atomic<int64_t> longest_unit_us;
  // Whether it is known that this database may issue IDs, see check_may_issue().
  std::atomic<bool> may_issue;
  // The time of the last watermark, see ids/watermark.cpp. A new slot starts above it, too.
  std::atomic<int64_t> watermark_us;
};

// The key of a slot, compared as bytes.
struct SlotKey {
  core::LayoutSpec layout;
  uint64 shard;
  Oid database;  // InvalidOid for those that all databases share
};
inline constexpr Size kSlotKeySize = offsetof(SlotKey, database) + sizeof(Oid);

struct Slot {
  SlotKey key;
  std::atomic<uint64_t> last_tick;  // see core/tick.hpp
  // How many sessions use it, in the low kUserBits; above them how many IDs it has issued, as far
  // as sessions have added them (ids/session_cache.hpp).
  std::atomic<uint64_t> uses;
};

// A session is a slot's user three times at most: in its cache, while its transaction moves the
// shard (nodes/shard_moves.cpp), and for a moment. No server has a quarter as many processes
// (MAX_BACKENDS in PostgreSQL's postmaster.c). The remaining bits count IDs for half a year at a
// million per second, and then wrap. Tests have few users.
inline constexpr int kUserBits = kIsDebug ? 10 : 20;
inline constexpr uint64 kUsersMask = (uint64{1} << kUserBits) - 1;

SNOWID_PIN_SIZE(Ceiling, kLockSize + 48);
SNOWID_PIN(Database, reset_us, kLockSize + 88);
SNOWID_PIN_SIZE(Database, kLockSize + 760);
SNOWID_PIN_SIZE(SlotKey, 32);
SNOWID_PIN(Slot, last_tick, 32);
// With the 16 bytes that dshash puts before it an entry is one cache line, and dsa places entries
// of that size on cache lines: no two shards share one.
SNOWID_PIN_SIZE(Slot, 48);

// The tables, of which sweeps and statistics look at all entries.
extern SharedTable databases;
extern SharedTable slots;

// This session's database; nullptr before database_attach().
extern Database* shared_database;

// The ceiling that this session uses, from database_attach() on: that of the entry, or of its
// transaction alone (ceiling/ceiling.hpp).
extern Ceiling* my_ceiling;

// Database::number of this database; before database_attach(), a word of this process's own. Below
// the changes are kSharedNumberBits for the number plus 1, or 0 if it is not known.
extern std::atomic<uint64_t>* number_word;
constexpr int kSharedNumberBits = 16;
constexpr uint64 changes_of(uint64 word) noexcept { return word >> kSharedNumberBits; }

// Finds or makes the entry of this database, and counts this session in; slots_attach() also
// attaches to the slots, which the functions of slots require. Later calls cost next to nothing.
// Raises: 55000 if a library with another ABI number is in use; an error of class 53 if there is no
// memory. They can be called again then.
void database_attach();
void slots_attach();

// Whether the entry may be that of a dropped database which had the same OID as this one: CREATE
// DATABASE may be given one. (After ALTER DATABASE this is true as well, which does no harm.) The
// node number in the entry was then forgotten, and open slots may be of shards that are closed in
// this database. database_confirm() notes that the caller has closed those; database_doubt(), that
// they may be open.
bool database_may_be_another();
void database_confirm();
void database_doubt();

// Makes every session check with its next ID whether this database may issue IDs, and learn the
// node number again. Raises: as database_attach().
void recheck_may_issue();

// Whether this database may issue IDs, by what it knows of itself as a node. fails: whether to
// raise 55000 if it may not. May look at catalogs. Defined in nodes/node_number.cpp.
bool node_may_issue(bool fails);

// Calls node_may_issue(), and notes in shared memory if it returns true: it need not be called
// again before recheck_may_issue(). Raises, if `fails`: 55000 if this database may not issue IDs.
void check_may_issue(bool fails);

// The node number that a session has stored since it changed last. Returns false if none has; in a
// transaction that has changed it, which sees another one than other sessions; and in a parallel
// worker and during recovery, in which it is not known whether it has. Raises: as
// database_attach().
bool shared_number_recall(int64* number);

// Stores the node number, unless it has changed since `changes` were counted. Requires: number is 0
// or more; one that the word has no room for is not stored.
void shared_number_store(uint64 changes, int64 number);

// Counts a change now, which makes all sessions of this database learn the number again with their
// next ID, even in the middle of a statement; and at the end of this transaction, when other
// sessions see it. Requires: the caller does not let this transaction be prepared (xact.hpp), since
// the commit of a prepared one is not noticed. Raises: as database_attach().
void shared_number_change_with_transaction();

// Called by module.cpp.
void at_eoxact_shared_number(XactEvent event);
void at_exit_database();

// Raises a time to `to_us`, unless it is at or above that. A process that reads the time with
// memory_order_acquire sees what was written before it was raised.
inline void raise_time(std::atomic<int64_t>* time_us, int64_t to_us) noexcept {
  int64_t was = time_us->load(std::memory_order_relaxed);
  while (was < to_us && !time_us->compare_exchange_weak(was, to_us, std::memory_order_acq_rel)) {
  }
}

// Adds to a count of this database, and returns the sum.
inline int64 tally(Count what, int64 more = 1) noexcept {
  return shared_database->counts[what].fetch_add(more, std::memory_order_relaxed) + more;
}

// Counts this session in as a user of a slot; and out, as let_go() in shmem/shared_table.hpp does.
inline void hold(Slot* slot) noexcept { slot->uses.fetch_add(1, std::memory_order_relaxed); }
inline void let_go(Slot*& slot) noexcept {
  if (slot == nullptr) return;
  Slot* was = slot;
  slot = nullptr;
  was->uses.fetch_sub(1, std::memory_order_release);
}

inline bool is_in_use(const Slot* slot) noexcept {
  return (slot->uses.load(std::memory_order_acquire) & kUsersMask) > 0;
}

// How many IDs a slot has issued: reads the count, adds to it, and resets it.
inline uint64 issued_by(const Slot* slot) noexcept {
  return slot->uses.load(std::memory_order_relaxed) >> kUserBits;
}
inline void add_issued(Slot* slot, uint64 count) noexcept {
  slot->uses.fetch_add(count << kUserBits, std::memory_order_relaxed);
}
inline void forget_issued(Slot* slot) noexcept {
  slot->uses.fetch_and(kUsersMask, std::memory_order_relaxed);
}

// The key of a shard of this database.
SlotKey slot_key_of(const core::Layout& layout, int64 shard) noexcept;

// The layout of a slot. `recent` is that of the slot before, which is often the same.
const core::Layout& slot_layout(const Slot* slot, core::Layout* recent) noexcept;

// The times above which slots of a database start, see Database.
struct SlotStart {
  core::UnixMicros floor;
  core::UnixMicros swept;
  core::UnixMicros swept_ceiling;
  core::UnixMicros watermark;
};
SlotStart slot_start_of(const Database* database) noexcept;

// Whether a watermark covers the unit of time of the last ID. Slots skip the rest of it, so it must
// be short; of other layouts it covers the units that have ended.
constexpr bool has_short_unit(const core::Layout& layout) noexcept {
  return layout.unit_us <= 10'000;
}

// The last tick that a new slot begins with: above all times that may have been used, above all
// that slots have issued which a sweep may have removed, and above the last watermark.
core::Tick start_tick_of(const core::Layout& layout, const SlotStart& start) noexcept;

// The same for this database as this session sees it. The floor of a transaction's own ceiling
// includes times that are in use only in this transaction, the shared one those of other sessions
// meanwhile.
core::Tick my_start_tick(const core::Layout& layout) noexcept;

// Whether nothing comes after the slot's last tick: it is closed, or the layout exhausted.
inline bool is_at_end(const Slot* slot, const core::Layout& layout) noexcept {
  return slot->last_tick.load(std::memory_order_acquire) == end_of(layout).value;
}

// Opens a slot of this database that is closed, above `last` and above every time up to the floor.
// last: as for core::open_tick(). Requires: no lock of snowid's is held. Raises nothing then; it
// can be called at the end of a transaction.
void open_slot(Slot* slot, const core::Layout& layout, core::Tick last);

// Calls visit(slot, layout) for each slot of this database; with_common: and for those that all
// databases share, whose key has no database. Requires: it takes no lock and raises no error.
template <typename Visit>
void for_each_slot(const Visit& visit, bool with_common = false) {
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  core::Layout recent = core::kInstagram;
  while (auto* slot = static_cast<Slot*>(dshash_seq_next(&scan)))
    if (slot->key.database == MyDatabaseId || (with_common && !OidIsValid(slot->key.database)))
      visit(slot, slot_layout(slot, &recent));
  dshash_seq_term(&scan);
}

// Raises all slots of this database above a floor: none issues an ID with a time up to it any more.
// Closed slots stay closed; open_slot() reads the floor. Requires: the floor was raised before, or
// slots made later would not be above it; the ceiling's lock is held.
void lift_slots(core::UnixMicros floor);

}  // namespace snowid::pg
