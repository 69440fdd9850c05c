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
// A dshash table never moves its entries, so a session keeps plain pointers to those that it has
// used, and needs the table's lock only to find them. Why none of them is ever deleted under it:
//
//   Each of these entries has a count of its users. A session takes a pointer with the entry's
//   partition locked, and counts itself in before it lets go of that lock. It counts itself out
//   once it has forgotten the pointer, when its process exits at the latest, by a callback. An
//   entry is deleted with its partition locked exclusively, and only where the count is 0: then
//   nobody has a pointer, and nobody can take one before the entry is gone from the table. A
//   process that ends without running its callbacks has crashed, and then the postmaster ends all
//   others and makes shared memory anew. No lock of a relation, and nothing that a catalog says,
//   has a part in this: they tell what is worth deleting, not what may be deleted.
//
// The slots that all databases share are not counted, and never deleted. A section's table of keys
// is reached only with the section's lock; it is freed with that lock, once it is taken out of the
// section, or with its section.
#pragma once

#include "pg/buying.hpp"
#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// What there are bounds on, see quota.hpp.
enum Kind : uint8_t {
  kSlots,
  kCounters,  // segments and sections
};
inline constexpr int kKinds = 2;

struct Database {
  Oid oid;  // the key
  std::atomic<uint32_t> users;

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
  // Every time up to this one may have been used: where a slot starts that has no tick yet. It only
  // grows.
  std::atomic<int64_t> floor_us;
  // Slots may be gone whose last unit had ended by the one time, and begun by the other, which is a
  // ceiling: no slot had used a later one. They only grow.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
  std::atomic<uint32_t> counts[kKinds];
  std::atomic<uint64_t> key_count;  // keys that there is room for in all tables of sections
};

struct SlotKey {
  Oid database;   // InvalidOid for those that all databases share
  uint32 unused;  // 0, since keys are compared as bytes
  uint64 shard;
  core::LayoutSpec layout;
};
static_assert(sizeof(SlotKey) == 32);

struct Slot {
  SlotKey key;
  std::atomic<uint64_t> last_tick;  // see core/tick.hpp
  std::atomic<uint32_t> users;
  Oid role;  // on whose account it is
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
  std::atomic<uint32_t> users;
  Oid role;  // on whose account it is
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
  std::atomic<uint32_t> users;
  Oid role;            // on whose account it is
  BuyingRight buying;  // the right to raise the limit
  Known known;
  LWLock lock;                 // guards what follows, but for reading the limit
  std::atomic<int64_t> limit;  // no key gets a number above it; durable before it is stored here
  std::atomic<int64_t> alert;  // from this number on the limit is raised early
  core::SectionState state;
  dsa_pointer table;  // a core::KeyTable, InvalidDsaPointer where there is none
  // When memory for another table was last refused, as Unix microseconds, or 0.
  int64 refused_us;
};

// Counts this session out of an entry, and forgets the pointer to it, if there is one. Never fails.
template <typename Entry>
inline void LetGo(Entry*& entry) {
  if (entry == nullptr) return;
  Entry* was = entry;
  entry = nullptr;
  // What this session did to the entry comes before, for whoever finds the count at 0.
  was->users.fetch_sub(1, std::memory_order_release);
}

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

// The slot of a shard of this database, made where there is none, with this session counted in. The
// ceiling must be known. shard: from 0, in the layout's range. Fails with 53200 where there are too
// many slots, see quota.hpp, or no memory.
Slot* shared_slot(const core::Layout& layout, int64 shard);

// The one slot of this layout that all databases share, made where there is none, with ticks above
// `floor`. No ceiling lifts it, see issue_common(). Fails with 53200 where there is no memory.
Slot* shared_common_slot(const core::Layout& layout, core::Tick floor);

// The entries of a sequence of this database, made where there are none, with this session counted
// in. shared_attach() must have been called. Fail with 53200 where there are too many, see
// quota.hpp, or no memory.
SharedSegment* shared_segment(Oid relid);
SharedSection* shared_section(Oid relid);

// The table of keys at a place, nullptr where there is none. It needs the section's lock.
core::KeyTable* shared_keys(dsa_pointer table);

// Whether a table with room for so many keys is to be had: only where the database stays below 50
// times snowid.section_keys, or its default, and the server below 200 times.
bool SharedHasRoomForKeys(uint32 capacity);

// Makes a table of keys. Fails where there is no memory, with an error of class 53.
dsa_pointer shared_allocate_keys(uint32 capacity);

// The same, but returns InvalidDsaPointer where there is no memory. To be called without any
// LWLock: it takes a subtransaction, which lets go of them all if it fails.
dsa_pointer shared_try_to_allocate_keys(uint32 capacity);

// Frees a table of keys of this database that nobody can reach any more.
void shared_free_table(dsa_pointer table);

// Frees the table of a section of this database, if there is one. It needs the section's lock.
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
