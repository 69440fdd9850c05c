// What all sessions share of counters: sequences that are drawn from as segments
// (sequence_cache.cpp) or as sections (keyed_counter.cpp). An entry for each in shared memory, with
// the right to refill it; the memory for the keys of sections; and the settings and bounds of both.
//
// Called in this order: shared_segment() or shared_section() once in a session; refill_begin(), or
// refill_wait() if another process has the right, and end_refill(); for a section also
// sections_make_room(), keys_allocate() or keys_try_to_allocate(), and keys_free().
//
// Shared: SharedSegment and SharedSection, entries of the tables "segments" and "sections"; the
// comments of the fields say which process may change them. A session is counted in as a user of
// each entry that it keeps a pointer to. A section's table of keys (core::KeyTable) is reached by
// SharedSection::table, with the section's lock or one of its draw locks held. It is freed once it
// is taken out of the section, which takes all of them, or with the section's entry, so nobody can
// reach it then.
//
// Locks are taken in this order: the partition of the usage of counters (shmem/bounds.hpp), that of
// "segments" or "sections", SharedSection::lock, the section's draw locks by their number, the
// partition of the usage of keys. No session holds a partition of "sections" and a section's lock
// at once.
#pragma once

#include "pg/counters/remote_source.hpp"
#include "pg/debug.hpp"
#include "pg/shmem/bounds.hpp"
#include "pg/shmem/shared_table.hpp"

// The number of the family's ABI: of the form of SharedSegment and SharedSection and all that they
// hold, core::Segment and core::KeyTable too, and of what their fields mean.
#ifndef SNOWID_COUNTERS_ABI
#define SNOWID_COUNTERS_ABI 6
#endif

namespace snowid::pg {

extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 1,000,000

inline constexpr int kDefaultSectionKeys = 100000;

// Defines them. Called once, when the library is loaded.
void counter_settings_register();

// The most segments and sections of a server, and of a database, at 320 bytes a segment and 1,280 a
// section. Keys of sections have a quota of their own, see key_quota.
SNOWID_BOUND(max_counters, 100000);
SNOWID_BOUND(max_counters_of_database, 25000);
// A section's keys are counted as this many where snowid.section_keys is less: its default.
SNOWID_BOUND(least_section_keys, kDefaultSectionKeys);

// The right to refill: to allocate blocks of a sequence, or to raise a section's limit. One process
// has it at a time: `holder` is taken by compare-and-swap, and a process that finds it taken sleeps
// on `released`. It is not a lock of PostgreSQL's lock manager, for two reasons: in pg_locks a lock
// on a sequence would look like DDL; and if several backends serve one distributed transaction, a
// detector of distributed deadlocks would assume that they block each other for good. There can be
// no deadlock, because the process that has the right waits for nothing that another transaction
// holds until its end. Code that refills must keep to that.
struct RefillRight {
  std::atomic<int32_t> holder;  // its process id, 0 where nobody has it
  ConditionVariable released;
};

inline bool is_being_refilled(const RefillRight& right) noexcept {
  return right.holder.load() != 0;
}

// Whether this process has the right, which no other one can change.
inline bool is_mine(const RefillRight& right) noexcept { return right.holder.load() == MyProcPid; }

// Takes the right, until end_refill(), which callbacks call when the transaction ends, the
// subtransaction that took it fails, or the process exits. Returns false if another process has it.
// Raises: XX000 if this process has any, since it can have one at a time.
bool refill_begin(RefillRight* right);

// Waits until the right is given back; it may be taken again at once. Interruptible. Requires: this
// process has no right, and no LWLock.
void refill_wait(RefillRight* right);

// Gives back the right that this process has, if it has one, and wakes the processes that wait for
// it.
void end_refill() noexcept;

// The same, to be called where a subtransaction fails: only if the right was taken in it, or in one
// within it.
void end_refill_in_subtransaction() noexcept;

// Refills that have allocated numbers. Times in microseconds. The process that has the right to
// refill adds to them, statistics zero them at any time.
struct RefillCounts {
  std::atomic<uint64_t> refills;
  std::atomic<uint64_t> total_us;
  std::atomic<uint64_t> longest_us;
  std::atomic<int64_t> logged_us;  // when a slow one was last logged, see may_log()
};

// Counts a refill that began then and is done. Returns how long it took, in microseconds.
int64 count_refill(RefillCounts* counts, instr_time began) noexcept;

// Logs a refill that took over a second, unless one of this sequence was logged in the last minute.
// Requires: this process no longer has the right to refill.
void log_if_slow(RefillCounts* counts, Oid relid, int64 took_us);

// A sequence of a database.
struct CounterKey {
  Oid database;
  Oid relid;
};

// The state of a segment, see sequence_cache.cpp.
struct SharedSegment {
  CounterKey key;
  std::atomic<uint32_t> users;
  RefillRight refill;
  core::Known known;  // stored by the process that has the right to refill, or removes the entry
  core::Segment numbers;  // see core/segment.hpp
  // The last refill, changed only by the process that has the right to refill; others read the
  // first field.
  std::atomic<uint64_t> blocks;  // how many were allocated, 0 before the first
  int64 refilled_us;             // when, as Unix microseconds
  uint64 refilled_cursor;        // the position of the cursor then
  // What is counted, see counter_stats.cpp; and what `numbers` had given when it last was zeroed.
  RefillCounts refills;
  SourceFailures source;
  std::atomic<uint64_t> given_before;
};

// A lock that a part of the processes take in shared mode to draw from a section, alone in its
// cache line. With one lock for all, each draw would have to fetch that line from another processor
// twice.
struct DrawLock {
  LWLock lock;
  char apart[64 - sizeof(LWLock)];
};

inline constexpr int kDrawLocks = 16;

// The state of a section, see keyed_counter.cpp. The fields that each draw reads are in other cache
// lines than those that each draw changes.
struct SharedSection {
  CounterKey key;
  std::atomic<uint32_t> users;
  RefillRight refill;  // held by the session that raises the limit; guards the next three fields
  core::Known known;
  // How many increments the limit was raised by, 0 before the first time. Others read it, too.
  std::atomic<uint64_t> increments;
  int64 raised_us;  // when, as Unix microseconds
  // No key gets a number above it; durable before it is stored here. It is lowered only while there
  // is no table.
  std::atomic<int64_t> limit;
  std::atomic<int64_t>
      alert;             // a session that draws this number or a greater one raises the limit early
  dsa_pointer table;     // a core::KeyTable, InvalidDsaPointer where there is none
  RefillCounts refills;  // see counter_stats.cpp
  std::atomic<uint64_t> increment;  // of the sequence, when the limit was last raised
  // When memory for another table was last refused, as Unix microseconds, or 0; guarded by `lock`.
  int64 refused_us;
  char apart[16];
  DrawLock draw_locks[kDrawLocks];
  LWLock lock;    // guards what follows; and, with all draw locks, the table
  int64_t floor;  // see core::next_of_key()
  // What is counted, which anybody reads: numbers, added by the sessions that have drawn them, when
  // their transactions end; keys in the table, and keys that were evicted, stored with `lock` held.
  std::atomic<uint64_t> given;
  std::atomic<uint64_t> keys;
  std::atomic<uint64_t> evictions;
};

SNOWID_PIN_SIZE(CounterKey, 8);
SNOWID_PIN_SIZE(core::Known, 56);
SNOWID_PIN_SIZE(RefillRight, 16);
SNOWID_PIN_SIZE(RefillCounts, 32);
SNOWID_PIN_SIZE(core::Run, 24);
SNOWID_PIN_SIZE(core::Segment, 88);
SNOWID_PIN_SIZE(SharedSegment, 288);
SNOWID_PIN_SIZE(SharedSection, 224 + kDrawLocks * 64 + kLockSize);
SNOWID_PIN_SIZE(core::KeyTable, 128);
SNOWID_PIN_SIZE(core::KeyNode, 32);

// How many keys the first table of a section has room for.
inline constexpr uint32 kFirstKeys = 100;

// Makes sure that another table, with room for `capacity` keys, may be made: where a bound keeps it
// from that, removes entries of sections that nobody uses and that have more keys than their
// first table has room for, until two tables as large as snowid.section_keys allows would be within
// it, since a section that grows has two for a moment. First those of dropped sequences, then those
// whose limit was raised longest ago. Returns false where the bound is still met; it sweeps as
// often as begin_sweep() allows. Requires: no LWLock is held. Raises: 53200 or 53100 if memory
// cannot be mapped.
bool sections_make_room(uint32 capacity);

// The tables of both, with their sequences as keys. Declared here because statistics look at all
// entries.
extern SharedTable segments;
extern SharedTable sections;

// The entry of a sequence of this database, made if there is none, with this session counted in.
// Raises: 53400 if there are too many; 55000 if another library has made shared memory; 53200 or
// 53100 if there is no memory.
SharedSegment* shared_segment(Oid relid);
SharedSection* shared_section(Oid relid);

// The keys that there is room for. With L the greater of snowid.section_keys and its default, a
// database may have 50 L and the server 200 L. The functions below need the session to be attached
// to it.
extern Quota key_quota;

// The table of keys at an address in shared memory; nullptr for InvalidDsaPointer. Requires: the
// section's lock or a draw lock is held, or nobody else can reach the table. Raises: 53200 if
// memory cannot be mapped.
core::KeyTable* keys_at(dsa_pointer table);

// Makes a table of keys of this database, which nobody else can reach yet. capacity: at least 1.
// Raises: 53200 or 53100 if there is no memory.
dsa_pointer keys_allocate(uint32 capacity);

// The same, but returns InvalidDsaPointer if there is no memory. Requires: no LWLock is held, since
// it tries in a subtransaction, and an error there releases all of them.
dsa_pointer keys_try_to_allocate(uint32 capacity);

// Frees a table of keys of this database that was taken out of its section.
void keys_free(dsa_pointer table);

}  // namespace snowid::pg
