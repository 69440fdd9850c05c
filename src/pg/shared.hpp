// What all sessions of a server share, and how a session finds it.
//
// Root      one for a server, from ShmemInitStruct, which server processes serialize by
//           AddinShmemInitLock. Its first word, `abi`, is set before the lock is let go and never
//           changes. `lock` guards the handles of the area and its tables, written once; the other
//           fields are atomics.
// Database  one for each database that draws IDs, an entry of the dshash table `databases`.
// Slot      one for each (database, layout, shard), an entry of the dshash table `slots`; and a few
//           that all databases share, for the kinds of ID that know no shard.
// SharedSegment, SharedSection
//           one for each sequence that is drawn from as such, entries of the dshash tables
//           `segments` and `sections`.
//
// A dshash table never moves its entries, and snowid deletes none but those of dropped sequences,
// so a session keeps plain pointers to those that it has used and needs the table's lock only to
// find them.
#pragma once

#include "pg/buying.hpp"
#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

struct Database {
  Oid oid;  // the key

  LWLock lock;       // taken to raise the ceiling; guards what follows, but for reading the atomics
  Oid relation;      // the sequence that the ceiling is durable in, InvalidOid before the first use
  FileNumber file;   // and its storage, which ALTER SEQUENCE may replace
  int64 written_us;  // what the sequence holds, as far as this server knows; the ceiling or more
  XLogRecPtr written_lsn;  // the end of the record that says so, where there is one
  // No ID may be issued with a time above this one. Durable before it is stored here.
  std::atomic<int64_t> ceiling_us;
  // Never above the ceiling. Whoever is to issue an ID with a time above this one sees first to it
  // that the ceiling is raised.
  std::atomic<int64_t> alert_us;
  // Every time up to this one may have been used: where a slot starts that has no tick yet.
  std::atomic<int64_t> floor_us;
  std::atomic<uint32_t> slot_count;
  std::atomic<uint32_t> counter_count;  // segments and sections
  std::atomic<uint64_t> key_count;      // keys that there is room for in all tables of sections
};

struct SlotKey {
  Oid database;  // InvalidOid for those that all databases share
  uint32 shard;  // an SQL int, which is narrower than a layout's shard can be
  core::LayoutSpec layout;
};
static_assert(sizeof(SlotKey) == 24);

struct Slot {
  SlotKey key;
  std::atomic<uint64_t> last_tick;  // see core/tick.hpp
  uint64_t unused[2];
};
// With the 16 bytes that dshash puts before it an entry is one cache line, and dsa places entries
// of that size on cache lines: no two shards share one.
static_assert(sizeof(Slot) + 16 == 64);

// A sequence of a database.
struct CounterKey {
  Oid database;
  Oid relid;
};

// What a sequence held when a block of it was last bought. Where it holds anything else, somebody
// has changed it, by setval or ALTER SEQUENCE say, and what is in memory counts for nothing any
// more; nor does it where the same value has another place in the WAL, or has lost its mark, since
// it was another in between. Stored by whoever has the right to buy, see counter.hpp.
struct Known {
  std::atomic<uint32_t> file;  // its storage, 0 where nothing in memory counts
  // Its last value, before and after a change that is under way, or twice the same; and where its
  // page's changes were logged.
  std::atomic<int64_t> before;
  std::atomic<int64_t> after;
  std::atomic<uint64_t> lsn_before;
  // InvalidXLogRecPtr, which goes with any, while it is being changed, or where the change was not
  // logged.
  std::atomic<uint64_t> lsn_after;
  std::atomic<bool> is_called;   // the sequence, after the change
  std::atomic<int64_t> log_cnt;  // and what its page is marked with
};

// How a central source has failed.
enum class SourceFailure : uint8_t {
  kOther,
  kDown,    // it could not be reached
  kBehind,  // it gives numbers that were given here
};

// The state of a segment, see segment.hpp.
struct SharedSegment {
  CounterKey key;
  BuyingRight buying;
  Known known;
  core::Segment numbers;  // see core/segment.hpp
  // When a central source may be tried again after it has failed, and when it did, as Unix
  // microseconds; 0 where it has not. Set by the buyer.
  std::atomic<int64_t> retry_us;
  std::atomic<int64_t> failed_us;
  std::atomic<uint32_t> failed_file;  // and the sequence's storage, which another source changes
  std::atomic<SourceFailure> failure;
  std::atomic<int64_t> behind_at;  // where kBehind: where the last block begins that it gave
  // The buyer's own.
  uint64 blocks;         // how many were bought last, 0 before the first
  int64 bought_us;       // when, as Unix microseconds
  uint64 bought_cursor;  // and where the cursor was
};

// The state of a section, see section.cpp.
struct SharedSection {
  CounterKey key;
  BuyingRight buying;  // the right to raise the limit
  Known known;
  LWLock lock;                 // guards what follows, but for reading the limit
  std::atomic<int64_t> limit;  // no key gets a number above it; durable before it is stored here
  std::atomic<int64_t> alert;  // from this number on the limit is raised early
  core::SectionState state;
  dsa_pointer table;  // a core::KeyTable, InvalidDsaPointer where there is none
};

// This session's database, from shared_attach() on: the shared entry, or the session's own stand-in
// for it, see shared_stand_in().
extern Database* my_database;

// Finds or makes the shared state. Once in a session; later calls cost nothing. Fails with 55000
// where a library of another ABI made it, with 53200 where the server's shared memory is used up.
void shared_attach();

// Has `my_database` be a stand-in that belongs to this session (true), or the shared entry (false).
// A stand-in begins as the shared entry is, and lets a transaction that has made the ceiling's
// sequence anew issue IDs without telling others of a ceiling that may yet be rolled back.
void shared_stand_in(bool wanted);
bool SharedHasStandIn();

// The slot of a shard of this database, made where there is none. The ceiling must be known.
// shard: from 0, in the layout's range. Fails with 53200 where there are too many slots, or no
// memory.
Slot* shared_slot(const core::Layout& layout, int32 shard);

// The one slot of this layout that all databases share, made where there is none, with ticks above
// `floor`. No ceiling lifts it, see issue_common(). Fails with 53200 where there is no memory.
Slot* shared_common_slot(const core::Layout& layout, core::Tick floor);

// The entries of a sequence of this database, made where there are none. shared_attach() must have
// been called, and the sequence be locked: those of a sequence that was dropped may go. Fail with
// 53200 where there are too many, or no memory.
SharedSegment* shared_segment(Oid relid);
SharedSection* shared_section(Oid relid);

// The table of keys at a place, nullptr where there is none. It needs the section's lock.
core::KeyTable* shared_keys(dsa_pointer table);

// Makes a table for so many keys. Returns InvalidDsaPointer where there is no memory, or where the
// database has 50 times snowid.section_keys, or its default, or the server 200 times. must: beyond
// that too, since it is a section's first table, which is small, or a smaller one than it has.
dsa_pointer shared_allocate_keys(uint32 capacity, bool must);

// Frees the table of a section, if there is one. It needs the section's lock.
void shared_free_keys(SharedSection* section);

// From now on no slot of this database issues an ID with a time up to `floor`.
void shared_lift(core::UnixMicros floor);

// 40 random bits that are the same for all sessions, and others after the next start of the server.
// Fails with XX000 where the source of random bytes does.
uint64 shared_random();

// The last time that the server's log was told that this layout is used up within a year, as Unix
// microseconds. (Where very many layouts are about to end, some share one; the log is then told of
// one of them.)
std::atomic<int64_t>* shared_warned_us(const core::LayoutSpec& layout);

}  // namespace snowid::pg
