// The shared state of a database: entry, with ceiling, node number, and counts; and slots.
//
// In the order of use: slots_attach(), by a session's first ID; slot_start_of() and
// my_start_tick(), when slots are created or removed (ids/shards.cpp); lift_slots(), when the floor
// is raised; check_may_issue(), by the slow path; open_slot(), by moves. Users of the node number
// call shared_number_recall(), else shared_number_store(). A change of it, or of its sources, calls
// shared_number_change_with_transaction(). Stopping the node calls recheck_may_issue().
//
// Shared: Database, an entry of the table "databases", used by a session from its first ID to its
// exit; and Slot, an entry of the table "slots" for each (database, layout, shard), used by a
// session that has a pointer to it. The common slots of all databases, for kinds of ID without a
// shard, have no users and are never deleted. Ticks change without a lock (core/tick.hpp). A
// session that opens a closed slot holds Ceiling::lock, and the locks described in ids/shards.hpp.
//
// Lock order: Ceiling::lock; a partition of "databases", of the usage of slots, of "slots".
#pragma once

#include "pg/postgres.hpp"

#include "core/skipped_times.hpp"
#include "core/start_tick.hpp"
#include "core/tick.hpp"
#include "pg/shmem/shared_table.hpp"

extern "C" {
#include "access/xact.h"
}

// The ABI number of Database and Slot (shmem/shared_table.hpp).
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 9
#endif

namespace snowid::pg {

struct Ceiling {
  // Held exclusively to raise the ceiling. Guards the next four fields and stores to ceiling_us.
  // The other times are also raised without it, by compare-and-swap. All are read without it.
  LWLock lock;
  Oid relation;      // the sequence with the durable ceiling, InvalidOid before the first use
  FileNumber file;   // its storage, which ALTER SEQUENCE may replace
  int64 written_us;  // the sequence's value, as known to this server; at least the ceiling
  // The end of the WAL record of written_us, InvalidXLogRecPtr if there is none to wait for.
  XLogRecPtr written_lsn;
  // Upper bound on the time of all IDs. Durable before it is stored here.
  std::atomic<int64_t> ceiling_us;
  // At most the ceiling. A session with a later ID first raises the ceiling, or sees another one do
  // so. Stored with release after ceiling_us and may_issue: acquiring it makes those visible.
  std::atomic<int64_t> alert_us;
  // The low-water mark: every time up to it may have been used, so a new slot starts above it.
  std::atomic<int64_t> floor_us;
};

// The skipped times of the ceiling's page. Written under the ceiling's lock when the page is first
// read, and by ceiling_set_back() without other sessions. Read without a lock if has_any.
struct SharedSkippedTimes {
  core::SkippedTimes times;
  std::atomic<bool> has_any;
};

// Since the server's start or the last reset (ids/id_stats.hpp). No promise depends on them.
enum Count : uint8_t {
  kRaises,   // of the ceiling
  kFlushes,  // waits for WAL in a raise
  kFlushUs,  // duration of those
  kWaits,    // callers that waited for the clock
  kWaitUs,   // duration of those
  kErrors,   // callers that got an error instead of an ID
  kBackwardSteps,
  kMaxLeadUs,  // greatest lead of an ID of the slow path
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
  // Sweeps may have removed slots with a last unit that had ended by swept_us, and had begun by
  // swept_ceiling_us, the ceiling at the sweep. New slots start above those units. Like the floor,
  // only snowid.return_to_clock() lowers them.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
  // The number of changes of the node number, and the number if a session stored it since: learning
  // it reads several catalogs. A change of its sources is counted at once and at the end of the
  // transaction, so a number learned before and stored after is ignored.
  std::atomic<uint64_t> number;
  // The xmin of the row of pg_database (database_may_be_another).
  std::atomic<uint32_t> row_xmin;
  // Statistics. Only reset_us, which rarely changes, shares a cache line with hot fields.
  std::atomic<int64_t> reset_us;  // the last reset in Unix microseconds, 0 for none
  std::atomic<int64_t> clock_us;  // about the latest reading of the clock by any session
  std::atomic<int64_t> counts[kCounts];
  std::atomic<int64_t> logged_us[kLogged];  // the last message of each kind (may_log)

  SharedSkippedTimes skipped;
  // The longest unit of time of any slot, in microseconds.
  std::atomic<int64_t> longest_unit_us;
  // Whether this database is known to be allowed to issue IDs (check_may_issue).
  std::atomic<bool> may_issue;
  // The last watermark's time (ids/watermark.cpp). A new slot starts above it, too.
  std::atomic<int64_t> watermark_us;
};

struct SlotKey {
  core::LayoutSpec layout;
  uint64 shard;
  Oid database;  // InvalidOid for common slots
};
inline constexpr Size kSlotKeySize = offsetof(SlotKey, database) + sizeof(Oid);

struct Slot {
  SlotKey key;
  std::atomic<uint64_t> last_tick;  // see core/tick.hpp
  // The number of users in the low kUserBits; above them that of IDs (ids/session_cache.hpp).
  std::atomic<uint64_t> uses;
};

// A session uses a slot at most three times: in its cache, in a move (nodes/shard_moves.cpp), and
// for a moment. No server has a quarter as many processes (MAX_BACKENDS in postmaster.c). The other
// bits count IDs for half a year at a million per second, then wrap.
inline constexpr int kUserBits = kIsDebug ? 10 : 20;
inline constexpr uint64 kUsersMask = (uint64{1} << kUserBits) - 1;

SNOWID_PIN_SIZE(Ceiling, kLockSize + 48);
SNOWID_PIN(Database, reset_us, kLockSize + 88);
SNOWID_PIN_SIZE(Database, kLockSize + 760);
SNOWID_PIN_SIZE(SlotKey, 32);
SNOWID_PIN(Slot, last_tick, 32);
// With dshash's 16 bytes, one cache line, as aligned by dsa: no two shards share one.
SNOWID_PIN_SIZE(Slot, 48);

// Scanned by sweeps and statistics.
extern SharedTable databases;
extern SharedTable slots;

// nullptr before slots_attach().
extern Database* shared_database;

// This session's ceiling after slots_attach(): the entry's, or a transaction-local copy.
extern Ceiling* my_ceiling;

// Database::number; before slots_attach(), a word of this process. The changes are above
// kSharedNumberBits for the node number plus 1, or 0 if it is unknown.
extern std::atomic<uint64_t>* number_word;
constexpr int kSharedNumberBits = 16;
constexpr uint64 changes_of(uint64 word) noexcept { return word >> kSharedNumberBits; }

// Finds or creates the entry of this database, counts this session in, and attaches to the slots.
// Later calls cost next to nothing. Raises: 55000 if a library with another ABI number is in use;
// class 53 if memory is short, to be called again.
void slots_attach();

// Whether the entry may be that of a dropped database with the same OID. (Also true after ALTER
// DATABASE, which is harmless.) Attaching then cleared the node number, and slots of shards closed
// in this database may be open. database_confirm(): they are closed. database_doubt(): the reverse.
bool database_may_be_another();
void database_confirm();
void database_doubt();

// Makes every session check may_issue and the node number again. Raises: as slots_attach().
void recheck_may_issue();

// Whether this node may issue IDs. May read catalogs. Defined in nodes/node_number.cpp. Raises, if
// `fails`: 55000 instead of returning false.
bool node_may_issue(bool fails);

// Calls node_may_issue(), and records true until recheck_may_issue(). Raises, if `fails`: 55000.
void check_may_issue(bool fails);

// Sets *number to the word's node number. Returns false if it has none; in a transaction that
// changed it; in a parallel worker and during recovery. Raises: as slots_attach().
bool shared_number_recall(int64* number);

// Stores the node number, unless it changed since `changes` or does not fit. Requires: number >= 0.
void shared_number_store(uint64 changes, int64 number);

// Counts a change at once, so all sessions of this database learn the number again, even within a
// statement; and at the end of this transaction, when they see it. Requires: PREPARE TRANSACTION is
// prevented (xact.hpp): COMMIT PREPARED goes unnoticed. Raises: as slots_attach().
void shared_number_change_with_transaction();

void at_eoxact_shared_number(XactEvent event);
void at_exit_database();

// Raises a time to at least to_us, and releases everything written before.
inline void raise_time(std::atomic<int64_t>* time_us, int64_t to_us) noexcept {
  int64_t was = time_us->load(std::memory_order_relaxed);
  while (was < to_us && !time_us->compare_exchange_weak(was, to_us, std::memory_order_acq_rel)) {
  }
}

inline int64 tally(Count what, int64 more = 1) noexcept {
  return shared_database->counts[what].fetch_add(more, std::memory_order_relaxed) + more;
}

// Counts this session in as a user of a slot; or out, and clears the pointer.
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

inline uint64 issued_by(const Slot* slot) noexcept {
  return slot->uses.load(std::memory_order_relaxed) >> kUserBits;
}
inline void add_issued(Slot* slot, uint64 count) noexcept {
  slot->uses.fetch_add(count << kUserBits, std::memory_order_relaxed);
}
inline void forget_issued(Slot* slot) noexcept {
  slot->uses.fetch_and(kUsersMask, std::memory_order_relaxed);
}

SlotKey slot_key_of(const core::Layout& layout, int64 shard) noexcept;

// recent: a cache of one layout, often the previous slot's.
const core::Layout& slot_layout(const Slot* slot, core::Layout* recent) noexcept;

core::SlotStart slot_start_of(const Database* database) noexcept;

// start_tick_of() as seen by this session: a transaction-local floor includes times used in this
// transaction alone, the shared one those of other sessions.
core::Tick my_start_tick(const core::Layout& layout) noexcept;

// Whether the slot has no next tick: it is closed, or the layout exhausted.
inline bool is_at_end(const Slot* slot, const core::Layout& layout) noexcept {
  return slot->last_tick.load(std::memory_order_acquire) == end_of(layout).value;
}

// Opens a closed slot above the floor and `last`, which is as for core::open_tick(). Requires: no
// lock of snowid is held. Raises nothing: callable at the end of a transaction.
void open_slot(Slot* slot, const core::Layout& layout, core::Tick last);

// Calls visit(slot, layout) for each slot of this database; with_common: and for the common slots.
// Requires: `visit` takes no lock and raises no error.
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

// Raises all slots of this database: none issues an ID at or below the floor again. Closed ones
// stay closed (open_slot() reads the floor). Requires: the ceiling's lock; the floor is raised.
void lift_slots(core::UnixMicros floor);

}  // namespace snowid::pg
