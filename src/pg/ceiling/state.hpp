// The ceiling of a database, which its sessions share. And the stand-in: the ceiling of a
// transaction that has made the ceiling's sequence itself, which other sessions do not see yet. And
// the functions that this room calls where slots are concerned, since it knows none.
//
// Shared: Ceiling, SharedWild and RaiseCounts. They are parts of the database's entry, which
// another room keeps (database/entry.hpp). Comments here say what guards each field.
#pragma once

#include "pg/compat.hpp"
#include "pg/shared/abi.hpp"
#include "pg/shared/table.hpp"

namespace snowid::pg {

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

// Statistics, see raises.hpp.
struct RaiseCounts {
  std::atomic<uint64_t> raises;     // how often the ceiling was raised
  std::atomic<uint64_t> flushes;    // and somebody waited for WAL to be flushed for that
  std::atomic<int64_t> flushes_us;  // for how long in all
  std::atomic<int64_t> logged_us;   // when a slow one was last logged, see MayLog()
};

// SNOWID_IDS_ABI is the ABI number of these, too.
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

// The ceiling that this session uses, once the entry has been found: the shared ceiling, or its own
// stand-in. ceiling_learn() says which.
extern Ceiling* my_ceiling;
// The shared ones, whether or not there is a stand-in.
extern Ceiling* shared_ceiling;
extern SharedWild* shared_wild;
extern RaiseCounts* raise_counts;

// Called by the room that keeps the entry: when one is made, whose bytes are zero; and when this
// session has found it.
void BeginCeiling(Ceiling* ceiling);
void PlaceCeiling(Ceiling* ceiling, SharedWild* wild, RaiseCounts* counts);

bool HasStandIn();

// Sets `my_ceiling` to the session's stand-in (true) or to the shared ceiling (false). A stand-in
// begins as the shared one is, durable in no sequence. With it a transaction that has made the
// ceiling's sequence anew can issue IDs, and others do not see a ceiling that may yet be rolled
// back. For ceiling_learn() alone. No lock of a ceiling may be held.
void use_stand_in(bool wanted);

// Functions that the room of slots (ids) provides to this one. It sets all of them when the library
// is loaded.
struct CeilingUsers {
  // Attaches to shared memory, and calls PlaceCeiling(). Called before the ceiling is learned; may
  // read catalogs. Fails as table_attach() does.
  void (*attach)();
  // Called in addition where this session is the first to learn the ceiling as it is now. May fail.
  void (*attach_rest)();
  // Lifts all slots of this database above `floor`, so that none issues an ID with a time up to it
  // any more. Called after the floor was raised, with the ceiling's lock held. Fails where memory
  // cannot be mapped.
  void (*lift)(core::UnixMicros floor);
  // Whether it is known that this database may issue IDs. While it is not, the alert is 0, so that
  // each ID takes the slow path, which checks. Never fails.
  bool (*may_issue)();
  // Called after this transaction has stored the ceiling in another sequence. May fail.
  void (*carried_over)();
};
extern CeilingUsers ceiling_users;

// Raises a time to `to_us`, unless it is at or above that. A process that reads the time with
// memory_order_acquire sees what was written before it was raised.
inline void RaiseTime(std::atomic<int64_t>* time_us, int64_t to_us) {
  int64_t was = time_us->load(std::memory_order_relaxed);
  while (was < to_us && !time_us->compare_exchange_weak(was, to_us, std::memory_order_acq_rel)) {
  }
}

}  // namespace snowid::pg
