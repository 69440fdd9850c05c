// The ceiling of a database as its sessions share it, and the stand-in for it that a transaction
// has which has made the ceiling's sequence itself. And what this room has others do: it knows no
// slots.
//
// Shared: Ceiling, SharedWild and RaiseCounts, parts of the database's entry, which another room
// keeps (database/entry.hpp). What guards each field is said there.
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
  // Never above the ceiling. Before a session issues an ID with a time above this one it has the
  // ceiling raised, or knows that another session does. It is released after ceiling_us, and after
  // may_issue of the database: who acquires it sees those.
  std::atomic<int64_t> alert_us;
  // The floor: every time up to this one may have been used, so a new slot starts above it.
  std::atomic<int64_t> floor_us;
};

// The wild times (core/wild.hpp), which the ceiling's page has, and whether there are any. They are
// written by the first session that reads the page, with the lock held, and by who has the database
// alone (ceiling_set_back). So once has_any is seen the ranges can be read without a lock.
struct SharedWild {
  core::WildTimes times;
  std::atomic<bool> has_any;
};

// Statistics, see raises.hpp.
struct RaiseCounts {
  std::atomic<uint64_t> raises;     // how often the ceiling was raised
  std::atomic<uint64_t> flushes;    // and somebody waited for WAL to be flushed for that
  std::atomic<int64_t> flushes_us;  // for how long in all
  std::atomic<int64_t> logged_us;   // when the log was last told of a slow one, see MayLog()
};

// Of these forms, too, SNOWID_IDS_ABI is the number.
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

// What this session goes by, once the entry has been found: the shared ceiling, or its own
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

// Has `my_ceiling` be the session's stand-in (true) or the shared ceiling (false). A stand-in
// begins as the shared one is, durable in no sequence. With it a transaction that has made the
// ceiling's sequence anew can issue IDs, and others do not see a ceiling that may yet be rolled
// back. For ceiling_learn() alone. No lock of a ceiling may be held.
void use_stand_in(bool wanted);

// What the room of slots does for this one. It sets all of them when the library is loaded.
struct CeilingUsers {
  // Attaches to shared memory, and calls PlaceCeiling(). It is called before the ceiling is
  // learned, and may look at catalogs. Fails as table_attach() does.
  void (*attach)();
  // Called where no other session has learned the ceiling as it is now. May fail, too.
  void (*attach_rest)();
  // Sees to it that no slot of this database issues an ID with a time up to `floor` from now on.
  // The floor has been raised, and the ceiling's lock is held. Fails where memory cannot be mapped.
  void (*lift)(core::UnixMicros floor);
  // Whether this database may issue IDs, as far as is known: where not, each asks. Never fails.
  bool (*may_issue)();
  // This transaction has had another sequence hold the ceiling. May fail.
  void (*carried_over)();
};
extern CeilingUsers ceiling_users;

// Raises a time, unless it is above. Who acquires it sees what was written before it was raised;
// where it was above, somebody else has released it.
inline void RaiseTime(std::atomic<int64_t>* time_us, int64_t to_us) {
  int64_t was = time_us->load(std::memory_order_relaxed);
  while (was < to_us && !time_us->compare_exchange_weak(was, to_us, std::memory_order_acq_rel)) {
  }
}

}  // namespace snowid::pg
