// The entries of segments and sections in shared memory, one for each sequence that numbers are
// drawn from.
//
// Shared: SharedSegment and SharedSection, one for each sequence that is drawn from as such,
// entries of the tables "segments" and "sections"; the comments of the fields say which process may
// change them. A session is counted in as a user of each entry that it keeps a pointer to.
//
// Locks are taken in this order: the partition of the usage of counters (shmem/bounds.hpp), that of
// "segments" or "sections", SharedSection::lock, the section's draw locks by their number, the
// partition of the usage of keys (keys.hpp). No session holds a partition of
// "sections" and a section's lock at once.
#pragma once

#include "pg/central/allocate.hpp"
#include "pg/central/failure.hpp"
#include "pg/central/sources.hpp"
#include "pg/counters/counter_stats.hpp"
#include "pg/counters/refill.hpp"
#include "pg/shmem/shared_table.hpp"

// The number of the family's ABI: of the form of SharedSegment and SharedSection and all that they
// hold, core::Segment and core::KeyTable too, and of what their fields mean.
#ifndef SNOWID_COUNTERS_ABI
#define SNOWID_COUNTERS_ABI 5
#endif

namespace snowid::pg {

// A sequence of a database.
struct CounterKey {
  Oid database;
  Oid relid;
};

// The state of a segment, see segment.cpp.
struct SharedSegment {
  CounterKey key;
  std::atomic<uint32_t> users;
  RefillRight refill;
  core::Known known;  // stored by the process that has the right to refill, or removes the entry
  core::Segment numbers;  // see core/segment.hpp
  LastFailure failure;    // of a central source, see central/failure.hpp
  // The last refill, changed only by the process that has the right to refill; others read the
  // first field.
  std::atomic<uint64_t> blocks;  // how many were allocated, 0 before the first
  int64 refilled_us;             // when, as Unix microseconds
  uint64 refilled_cursor;        // the position of the cursor then
  // What is counted, see counter_stats.hpp; and what `numbers` had given when it last was zeroed.
  RefillCounts refills;
  FailureCounts source;
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

// The state of a section, see section.cpp. The fields that each draw reads are in other cache lines
// than those that each draw changes.
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
  RefillCounts refills;  // see counter_stats.hpp
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

SNOWID_PIN(CounterKey, database, 0);
SNOWID_PIN(CounterKey, relid, 4);
SNOWID_PIN_SIZE(CounterKey, 8);

SNOWID_PIN(core::Known, file, 0);
SNOWID_PIN(core::Known, before, 8);
SNOWID_PIN(core::Known, after, 16);
SNOWID_PIN(core::Known, lsn_before, 24);
SNOWID_PIN(core::Known, lsn_after, 32);
SNOWID_PIN(core::Known, is_called, 40);
SNOWID_PIN(core::Known, log_cnt, 48);
SNOWID_PIN_SIZE(core::Known, 56);

SNOWID_PIN(RefillRight, holder, 0);
SNOWID_PIN(RefillRight, released, 4);
SNOWID_PIN_SIZE(RefillRight, 16);

SNOWID_PIN(RefillCounts, refills, 0);
SNOWID_PIN(RefillCounts, total_us, 8);
SNOWID_PIN(RefillCounts, longest_us, 16);
SNOWID_PIN(RefillCounts, logged_us, 24);
SNOWID_PIN_SIZE(RefillCounts, 32);

SNOWID_PIN(SharedSegment, key, 0);
SNOWID_PIN(SharedSegment, users, 8);
SNOWID_PIN(SharedSegment, refill, 12);
SNOWID_PIN(SharedSegment, known, 32);
SNOWID_PIN(SharedSegment, numbers, 88);
SNOWID_PIN(SharedSegment, failure, 176);
SNOWID_PIN(SharedSegment, blocks, 200);
SNOWID_PIN(SharedSegment, refilled_us, 208);
SNOWID_PIN(SharedSegment, refilled_cursor, 216);
SNOWID_PIN(SharedSegment, refills, 224);
SNOWID_PIN(SharedSegment, source, 256);
SNOWID_PIN(SharedSegment, given_before, 288);
SNOWID_PIN_SIZE(SharedSegment, 296);

SNOWID_PIN(SharedSection, key, 0);
SNOWID_PIN(SharedSection, users, 8);
SNOWID_PIN(SharedSection, refill, 12);
SNOWID_PIN(SharedSection, known, 32);
SNOWID_PIN(SharedSection, increments, 88);
SNOWID_PIN(SharedSection, raised_us, 96);
SNOWID_PIN(SharedSection, limit, 104);
SNOWID_PIN(SharedSection, alert, 112);
SNOWID_PIN(SharedSection, table, 120);
SNOWID_PIN(SharedSection, refills, 128);
SNOWID_PIN(SharedSection, increment, 160);
SNOWID_PIN(SharedSection, refused_us, 168);
SNOWID_PIN(SharedSection, draw_locks, 192);
SNOWID_PIN(SharedSection, lock, 192 + kDrawLocks * 64);
SNOWID_PIN(SharedSection, floor, 192 + kDrawLocks * 64 + kLockSize);
SNOWID_PIN(SharedSection, given, 200 + kDrawLocks * 64 + kLockSize);
SNOWID_PIN(SharedSection, keys, 208 + kDrawLocks * 64 + kLockSize);
SNOWID_PIN(SharedSection, evictions, 216 + kDrawLocks * 64 + kLockSize);
SNOWID_PIN_SIZE(SharedSection, 224 + kDrawLocks * 64 + kLockSize);

SNOWID_PIN(core::Run, begin, 0);
SNOWID_PIN(core::Run, end, 8);
SNOWID_PIN(core::Run, first, 16);
SNOWID_PIN_SIZE(core::Run, 24);

SNOWID_PIN(core::Segment, cursor, 0);
SNOWID_PIN(core::Segment, alert, 8);
SNOWID_PIN(core::Segment, size, 16);
SNOWID_PIN(core::Segment, increment, 24);
SNOWID_PIN(core::Segment, runs, 32);
SNOWID_PIN(core::Segment, given_up, 80);
SNOWID_PIN_SIZE(core::Segment, 88);

SNOWID_PIN(core::KeyTable, capacity, 0);
SNOWID_PIN(core::KeyTable, generation, 8);
SNOWID_PIN(core::KeyTable, used, 64);
SNOWID_PIN(core::KeyTable, count, 68);
SNOWID_PIN(core::KeyTable, current, 72);
SNOWID_PIN(core::KeyTable, previous, 80);
SNOWID_PIN(core::KeyTable, old, 88);
SNOWID_PIN(core::KeyTable, evicted, 96);
SNOWID_PIN(core::KeyTable, nodes, 128);
SNOWID_PIN_SIZE(core::KeyTable, 128);

SNOWID_PIN(core::KeyNode, key, 0);
SNOWID_PIN(core::KeyNode, last, 8);
SNOWID_PIN(core::KeyNode, generation, 16);
SNOWID_PIN(core::KeyNode, chain, 24);
SNOWID_PIN(core::KeyNode, newer, 28);
SNOWID_PIN_SIZE(core::KeyNode, 32);

// How many keys the first table of a section has room for.
inline constexpr uint32 kFirstKeys = 100;

// Makes sure that another table, with room for `capacity` keys, may be made: where a bound keeps it
// from that, removes entries of sections that nobody uses and that have more keys than their
// first table has room for, until two tables as large as snowid.section_keys allows would be within
// it, since a section that grows has two for a moment. First those of dropped sequences, then those
// whose limit was raised longest ago. Returns false where the bound is still met; it sweeps as
// often as begin_sweep() allows. No LWLock may be held. Fails where memory cannot be mapped, and as
// quota_attach() does.
bool sections_make_room(uint32 capacity);

// Calls `look` for each entry of this database, with its partition locked in shared mode: it takes
// no lock and does not wait. Fails as table_attach() does, and `look` may fail.
void segments_each(void (*look)(SharedSegment* segment, void* argument), void* argument);
void sections_each(void (*look)(SharedSection* section, void* argument), void* argument);

// The entry of a sequence of this database, made where there is none, with this session counted in.
// Fail as quota_require_room() and table_attach() do, and with an error of class 53 where there is
// no memory.
SharedSegment* shared_segment(Oid relid);
SharedSection* shared_section(Oid relid);

}  // namespace snowid::pg
