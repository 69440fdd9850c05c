// What all sessions share of counters: sequences that are drawn from as segments
// (sequence_cache.cpp) or as sections (keyed_counter.cpp). An entry for each in shared memory, with
// the right to refill it; the memory for the keys of sections; and the settings and bounds of both.
//
// Called in this order: shared_segment() or shared_section() once in a session; refill_begin(), or
// refill_wait() if another process has the right, and end_refill(); for a section also
// sections_make_room().
//
// Shared: SharedSegment and SharedSection, entries of the tables "segments" and "sections"; the
// comments of the fields say which process may change them. A session is counted in as a user of
// each entry that it keeps a pointer to. The keys of a section are freed with its entry.
//
// Locks are taken in this order: the partition of the usage of counters (shmem/bounds.hpp), that of
// "segments" or "sections", the partition of the usage of keys; and SharedSection::lock, a
// KeyPartition::lock. No session holds a partition of "sections" and a section's lock at once.
#pragma once

#include "pg/postgres.hpp"

#include "core/key_table.hpp"
#include "core/known.hpp"
#include "core/segment.hpp"
#include "pg/counters/remote_source.hpp"
#include "pg/debug.hpp"
#include "pg/shmem/bounds.hpp"
#include "pg/shmem/shared_table.hpp"

extern "C" {
#include "portability/instr_time.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"
#include "utils/dsa.h"
}

// The number of the family's ABI: of the form of SharedSegment and SharedSection and all that they
// hold, core::Segment and core::KeySlot too, and of what their fields mean.
#ifndef SNOWID_COUNTERS_ABI
#define SNOWID_COUNTERS_ABI 10
#endif

namespace snowid::pg {

extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 1,000,000

inline constexpr int kDefaultSectionKeys = 100000;

// Defines them. Called once, when the library is loaded.
void counter_settings_register();

// The most segments and sections of a server, and of a database, at 320 bytes a segment and 1.3 kB
// a section. Keys of sections have a quota of their own, see key_quota.
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

inline constexpr int kKeyPartitions = 16;

// A part of the keys of a section, which others can draw from while it is changed. In a cache line
// of its own.
struct KeyPartition {
  LWLock lock;        // in shared mode to draw; exclusively to add, remove or move keys
  dsa_pointer slots;  // of core::KeySlot; invalid where the capacity is 0: it has no keys
  std::atomic<uint32_t> capacity;
  std::atomic<uint32_t> keys;
  char apart[64 - 16 - kLockSize];
};

// The state of a section, see keyed_counter.cpp. The fields that each draw reads come before those
// that change often.
struct SharedSection {
  CounterKey key;
  std::atomic<uint32_t> users;
  RefillRight refill;  // held by the session that raises the limit; guards the next three fields
  core::Known known;
  // How many increments the limit was raised by, 0 before the first time. Others read it, too.
  std::atomic<uint64_t> increments;
  std::atomic<int64_t> raised_us;  // when, as Unix microseconds; read by others, too
  // No key gets a number above it; durable before it is stored here.
  std::atomic<int64_t> limit;
  std::atomic<int64_t>
      alert;  // a session that draws this number or a greater one raises the limit early
  std::atomic<uint64_t> uses;  // the generation, and the keys used in it: core::note_use()
  // A random number, with which keys are exclusive-ored, so that nobody can choose keys that
  // collide.
  uint64 seed;
  RefillCounts refills;             // see counter_stats.cpp
  std::atomic<uint64_t> increment;  // of the sequence, when the limit was last raised
  LWLock lock;                      // to have keys leave, and for `floor`
  std::atomic<int64_t> floor;       // no key that is not in memory was given a greater number
  std::atomic<uint32_t> room;       // the keys that it may have, which the quota counts
  // When memory for a key was last refused, as Unix microseconds, or 0.
  std::atomic<int64_t> refused_us;
  // What is counted, which anybody reads: numbers, added by the sessions that have drawn them, when
  // their transactions end; keys in memory, and keys that have left.
  std::atomic<uint64_t> given;
  std::atomic<uint64_t> keys;
  std::atomic<uint64_t> evictions;
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
// Cache lines begin where partitions do: dshash puts 16 bytes before an entry.
static_assert((16 + offsetof(SharedSection, partitions)) % 64 == 0);
SNOWID_PIN_SIZE(core::KeySlot, 24);

// How many keys a section has room for, come what may.
inline constexpr uint32 kFirstKeys = 100;

// Makes sure that a section may have room for `more` keys more: if a bound keeps it from that,
// removes entries of sections that nobody uses and that have room for more than kFirstKeys, until
// there is room for as many as snowid.section_keys. First those of dropped sequences, then those
// whose limit was raised longest ago. Returns false where the bound is still met; it sweeps as
// often as begin_sweep() allows. Requires: no LWLock is held. Raises: 53200 or 53100 if memory
// cannot be mapped.
bool sections_make_room(uint32 more);

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
// database may have 50 L and the server 200 L.
extern Quota key_quota;

}  // namespace snowid::pg
