// The ceiling: a durable high-water mark, the only durable state of the IDs of a database. It is a
// time, the last_value of the sequence snowid_internal.ceiling, and no ID is issued with a time
// above it. Whatever happens to the server, every time up to the ceiling counts as used when it
// starts again. The idea is max_seq of WeChat's seqsvr.
//
// Used in this order: require_can_issue(), slots_attach() of database.hpp, and ceiling_learn(), by
// an ID for which `ceiling_known` is false; then ceiling_raise(), by the first ID with a time above
// the alert. The other functions are for shards that move (ceiling_cover(), ceiling_hold()), for
// skipped times and what must be above a moment (ceiling_lift()), and for snowid.return_to_clock()
// (ceiling_set_back()). They call ceiling_storage.hpp for the sequence and its pages. Other modules
// include this header alone.
//
// Shared: Ceiling of the database's entry. A session takes first the relation's lock, for which it
// may have to wait, then Ceiling::lock, then the buffers', or partitions of tables.
//
// A transaction that has made the sequence itself, as CREATE EXTENSION does, has a copy of the
// ceiling of its own until it ends: other sessions do not see the sequence yet, and must not see a
// ceiling that may yet be rolled back.
#pragma once

#include "pg/postgres.hpp"

#include "core/ceiling.hpp"
#include "core/skipped_times.hpp"
#include "core/types.hpp"
#include "pg/ceiling/ceiling_storage.hpp"
#include "pg/database/database.hpp"

extern "C" {
#include "access/xlogdefs.h"
}

namespace snowid::pg {

// snowid.ceiling_step, in milliseconds: 10 to 5000. After a restart callers may have to wait for as
// long, so it is no more than the default of snowid.max_wait. See also core/ceiling.hpp.
extern int ceiling_step_ms;
inline int64 ceiling_step_us() { return int64{ceiling_step_ms} * 1000; }

// Defines the setting. Called once, when the library is loaded.
void ceiling_register();

// Whether the sequence that this session knows is the one that the shared state names. A relcache
// invalidation, by module.cpp, sets it to false if the sequence may be another one; in a
// transaction that has made the sequence it stays false.
extern bool ceiling_known;
void on_relcache_ceiling(Oid relid);

// Whether this transaction has a copy of the ceiling of its own: it has made the sequence.
bool has_own_ceiling() noexcept;

// Raises: 25006 during recovery; 25000 in a parallel worker.
void require_can_issue();

// Makes sure that the ceiling in memory is durable in this database's sequence. If the sequence
// holds more than this server has written to it, all shards are lifted to that time. Sets
// `my_ceiling`; and `ceiling_known` to true, except in a transaction that has made the sequence.
// Requires: require_can_issue(), slots_attach(). Raises: 55000 if this transaction has given the
// sequence other storage, or has dropped the one of before.
//
// This function, and all below, for which it must have been called, raise: 55000 if the sequence is
// missing, or not a permanent sequence; 0A000 if its page is of another version; 57014 if the wait
// for a standby is cancelled.
void ceiling_learn();

// The skipped times of this database (core/skipped_times.hpp): those ahead of the clock that IDs
// have got from a fast clock, and that no ID may get again.
inline const core::SkippedTimes& skipped_times() noexcept {
  static constexpr core::SkippedTimes kNone{};
  const SharedSkippedTimes& skipped = shared_database->skipped;
  return skipped.has_any.load(std::memory_order_acquire) ? skipped.times : kNone;
}

// Every time up to this one counts as used: the floor of the shared ceiling.
inline core::UnixMicros shared_floor() noexcept {
  return {shared_database->ceiling.floor_us.load(std::memory_order_acquire)};
}

// The latest that the alert may be: a day before the first skipped times that the shards have not
// been lifted over. The fast path of an ID therefore need not check them.
inline core::UnixMicros last_alert() noexcept {
  return unlifted_until(skipped_times(), shared_floor());
}

// The alert while a session raises the ceiling for an ID with the time `moment`: a little further
// on, or other sessions would raise it at the same time.
inline int64 next_alert_us(core::UnixMicros moment) {
  return moment.value + ceiling_step_us() / 8 + 1;
}

// Raises the ceiling as `wish` says, unless it is high enough. With kMust the ceiling is at or
// above `moment`, the ID's time, when it returns. With kEarly, if the ceiling is that high already,
// it does nothing if it would have to wait for the relation's lock, and waits for disk and standby
// only if the sequence was replaced: it writes ahead, and the next session to raise the ceiling
// publishes a write that has become durable meanwhile.
void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency);

// Makes sure that the ceiling is durably at or above `moment`.
void ceiling_cover(core::UnixMicros moment);

// Lifts all shards of this database above `moment`, durably: none issues an ID with a time up to it
// any more. A rollback does not undo that.
void ceiling_lift(core::UnixMicros moment);

// Stores a ceiling, which may be lower than the present one, and the skipped times. As with setval,
// that stays if the transaction rolls back. Returns the end of the WAL record, for
// sequence_make_durable(). The record need not be durable before IDs are issued: if a crash loses
// it, the previous ceiling counts, which is no lower, or was not above what was durable then.
// Requires: no other session is connected to the database (AccessExclusiveLock of it), and this one
// has no ceiling of its own.
XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::SkippedTimes& skipped);

// Keeps other transactions from replacing the sequence until the end of this one.
void ceiling_hold();

}  // namespace snowid::pg
