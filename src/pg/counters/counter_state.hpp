// Counters: ordinary sequences whose numbers are issued from shared memory, as segments
// (sequence_cache.cpp) or as sections (keyed_counter.cpp). Here are their entries in shared memory,
// the right to refill them, and a counter as a session sees it (session_counter.cpp).
//
// Called in this order: counter_open() and counter_is_as_known() for each number, shared_counter()
// once in a session; refill_begin() or refill_wait(); with the right to refill counter_page_lock(),
// counter_change() and counter_page_unlock(), then sequence_make_durable() (sequence_page.hpp) and
// counter_settle(); end_refill(); for a section also sections_make_room().
//
// Shared: SharedSegment and SharedSection, entries of the tables "segments" and "sections". A
// session counts itself as a user of each entry to which it keeps a pointer. Keys are freed with
// the entry. And the sequence: as nextval does, a session locks it in RowExclusiveLock once in a
// transaction, until its end: it can be neither dropped nor altered while a transaction with
// numbers from it is open, and the next call sees the new state. setval takes the same lock without
// waiting; therefore each call looks at the sequence's page. Only the session with the right to
// refill changes the page.
//
// Lock order: the partition of the usage of counters (shmem/bounds.hpp), that of "segments" or
// "sections", the partition of the usage of keys; and SharedSection::lock, KeyPartition::lock. No
// session holds a partition of "sections" and a section's lock at once.
#pragma once

#include "pg/postgres.hpp"

#include "core/key_table.hpp"
#include "core/known.hpp"
#include "core/segment.hpp"
#include "pg/counters/remote_source.hpp"
#include "pg/debug.hpp"
#include "pg/sequence_page.hpp"
#include "pg/shmem/bounds.hpp"
#include "pg/shmem/shared_table.hpp"

extern "C" {
#include "access/xact.h"
#include "portability/instr_time.h"
#include "storage/condition_variable.h"
}

// The ABI number of the entries, with core::Segment and core::KeySlot: their layout and meaning.
#ifndef SNOWID_COUNTERS_ABI
#define SNOWID_COUNTERS_ABI 11
#endif

namespace snowid::pg {

extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 1,000,000

inline constexpr int kDefaultSectionKeys = 100000;

void counter_settings_register();

// Limits of a server and of a database. A segment takes 320 bytes, a section 1.3 kB and keys.
SNOWID_BOUND(max_counters, 100000);
SNOWID_BOUND(max_counters_of_database, 25000);
// The least number of keys for which a section counts, its default, if snowid.section_keys is less.
SNOWID_BOUND(least_section_keys, kDefaultSectionKeys);

// The right to refill: to allocate blocks of a sequence, or to raise a section's limit. One process
// holds it at a time: it sets `holder` by compare-and-swap; others sleep on `released`.
//
// It is not a heavyweight lock, for two reasons: in pg_locks a lock on a sequence would look like
// DDL; and if several backends serve one distributed transaction, a distributed deadlock detector
// would assume they block each other permanently. There is no deadlock, because the holder waits
// for nothing another transaction holds until its end. Code that refills must keep to this rule.
struct RefillRight {
  std::atomic<int32_t> holder;  // process ID, 0 if the right is free
  ConditionVariable released;
};

inline bool is_being_refilled(const RefillRight& right) noexcept {
  return right.holder.load() != 0;
}

inline bool is_mine(const RefillRight& right) noexcept { return right.holder.load() == MyProcPid; }

// Acquires the right, until end_refill(): called at the end of the transaction, when the
// subtransaction that acquired it fails, or when the process exits. Returns false if another
// process holds it. Raises: XX000 if this process holds any right: it can hold one at a time.
bool refill_begin(RefillRight* right);

// Waits until the right is released; another process may acquire it at once. Interruptible.
// Requires: this process holds no right and no LWLock.
void refill_wait(RefillRight* right);

// Releases the right of this process, if any, and wakes the processes waiting for it. level: only
// if it was acquired in a subtransaction of this nesting level, or in one nested in it.
void end_refill(int level = 0) noexcept;

// Refills that allocated numbers, in microseconds. Written with the right to refill, reset at any
// time.
struct RefillCounts {
  std::atomic<uint64_t> refills;
  std::atomic<uint64_t> total_us;
  std::atomic<uint64_t> longest_us;
  std::atomic<int64_t> logged_us;  // last slow refill logged, see may_log()
};

// Counts a refill that allocated numbers since `began`, releases the right to refill, and logs the
// refill if it took more than 1 s, at most once a minute.
void finish_refill(RefillCounts* counts, Oid relid, instr_time began);

struct CounterKey {
  Oid database;
  Oid relid;
};

struct SharedSegment {
  CounterKey key;
  std::atomic<uint32_t> users;
  RefillRight refill;
  core::Known known;  // stored with the right to refill, or when the entry is removed
  core::Segment numbers;
  // The last refill; changed only with the right to refill. Others read `blocks`.
  std::atomic<uint64_t> blocks;  // allocated, 0 before the first refill
  int64 refilled_us;             // Unix microseconds
  uint64 refilled_cursor;        // position of the cursor at the refill
  RefillCounts refills;          // see counter_stats.cpp
  SourceFailures source;
  std::atomic<uint64_t> given_before;  // numbers issued before the last reset
};

inline constexpr int kKeyPartitions = 16;

// Some of a section's keys, in a cache line of their own.
struct KeyPartition {
  LWLock lock;                   // shared to issue numbers; exclusive to add, remove or move keys
  dsa_pointer slots;             // of core::KeySlot; invalid if the capacity is 0: no keys
  std::atomic<uint64_t> issued;  // numbers, since the last reset of statistics
  std::atomic<uint32_t> capacity;
  std::atomic<uint32_t> keys;
  char apart[64 - 24 - kLockSize];
};

// The fields read for each number come before those that change often.
struct SharedSection {
  CounterKey key;
  std::atomic<uint32_t> users;
  RefillRight refill;  // to raise the limit; guards writes to the next three fields
  core::Known known;
  std::atomic<uint64_t> increments;  // by which the limit was raised last, 0 before
  std::atomic<int64_t> raised_us;    // last raise, Unix microseconds
  std::atomic<int64_t> limit;        // upper bound on all keys' numbers; durable before stored here
  std::atomic<int64_t> alert;        // number from which a session raises the limit early
  std::atomic<uint64_t> uses;        // the generation, and keys used in it: core::note_use()
  uint64 seed;  // random; keys are XORed with it, against keys chosen to collide
  RefillCounts refills;
  std::atomic<uint64_t> increment;  // of the sequence, at the last raise
  LWLock lock;                      // to evict keys, and for `floor`
  std::atomic<int64_t> floor;       // upper bound on the numbers of keys not in memory
  std::atomic<uint32_t> room;       // keys allowed, as counted by the quota
  std::atomic<int64_t> refused_us;  // last time without memory for a key, Unix microseconds, or 0
  std::atomic<uint64_t> keys;
  std::atomic<uint64_t> evictions;
  char apart[8];
  KeyPartition partitions[kKeyPartitions];  // by core::hash_of_key()
};

SNOWID_PIN_SIZE(CounterKey, 8);
SNOWID_PIN_SIZE(core::Known, 56);
SNOWID_PIN_SIZE(RefillRight, 16);
SNOWID_PIN_SIZE(RefillCounts, 32);
SNOWID_PIN_SIZE(core::Run, 24);
SNOWID_PIN_SIZE(core::Segment, 88);
SNOWID_PIN_SIZE(SharedSegment, 288);
SNOWID_PIN_SIZE(SharedSection, 224 + kLockSize + 64 * kKeyPartitions);
// Cache lines begin with partitions: dshash puts 16 bytes before an entry.
static_assert((16 + offsetof(SharedSection, partitions)) % 64 == 0);
SNOWID_PIN_SIZE(core::KeySlot, 24);

// Guaranteed to each section.
inline constexpr uint32 kFirstKeys = 100;

// Makes room for `more` keys in a section. If a bound prevents it, removes entries of unused
// sections with room for more than kFirstKeys, until snowid.section_keys fit: first those of
// dropped sequences, then those whose limit was raised longest ago. Sweeps at most as often as
// begin_sweep() allows. Returns false if the bound is still exceeded. Requires: no LWLock held.
// Raises: 53200 or 53100 if memory cannot be mapped.
bool sections_make_room(uint32 more);

extern SharedTable segments;
extern SharedTable sections;

// Finds or makes the entry of a sequence of this database in one of the tables, with this session
// counted as a user. Raises: 53400 if there are too many; 53200 or 53100 without memory; 55000 if
// another library version made shared memory.
void* shared_counter(SharedTable* table, Oid relid);

// 50 L for a database, 200 L for the server; L: the greater of snowid.section_keys and its default.
extern Quota key_quota;

// Belongs to one process. Made at the first use of the sequence in the session; never freed.
struct Counter {
  Oid relid;
  LocalTransactionId locked_in;  // the last transaction in which this session locked it
  bool is_looked_at;             // whether `file` is valid: no invalidation of the sequence since
  bool is_pinned;                // whether this transaction has its page pinned
  FileLocator file;
  Buffer buffer;  // the last buffer of its page, or InvalidBuffer
  // Shared entries, with this session counted as a user; nullptr if not used as such.
  SharedSegment* segment;
  SharedSection* section;
};

// Opens a sequence's counter, and locks the sequence for this transaction. rights: the user needs
// one of them. Raises: 42P01 if there is no such relation; 42809 if it is not a sequence, or one of
// snowid's own; 0A000 if it is temporary; 42501 if the user has none of the rights.
Counter* counter_open(Oid relid, AclMode rights);

// Whether the sequence is unchanged since its numbers in memory were allocated, by its page, read
// without a lock. Requires: the counter is open in this transaction.
bool counter_is_as_known(Counter* counter, const core::Known& known);

// Raises: 2200H, as nextval does.
[[noreturn]] void counter_report_exhausted(Oid relid, int64 max);

// As sequence_page_lock() and its reverse, for the counter's sequence.
SequencePage counter_page_lock(const Counter* counter);
void counter_page_unlock(const SequencePage& page);

// Sets the locked page's last value to `last`, or the next value if is_called is false; and *known
// to match. Until counter_settle() the numbers already in memory stay as valid as they were.
// Returns the end of the WAL record, see sequence_page_store(). Requires: the right to refill.
XLogRecPtr counter_change(const SequencePage& page, const Counter* counter, core::Known* known,
                          int64 last, bool is_called = true);

// Makes the numbers in memory valid. Requires: the change is durable and the numbers are in memory.
void counter_settle(const Counter* counter, core::Known* known);

void at_eoxact_counters(XactEvent event);
void at_eosubxact_counters(SubXactEvent event);
void at_exit_counters();
void on_relcache_counters(Oid relid);

}  // namespace snowid::pg
