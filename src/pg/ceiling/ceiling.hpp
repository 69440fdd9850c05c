// The ceiling: a durable high-water mark, the only durable state of a database's IDs. It is the
// last_value of the sequence snowid_internal.ceiling, an upper bound on the time of all IDs. After
// a crash, every time up to it counts as used. The idea is max_seq of WeChat's seqsvr.
//
// In the order of use: require_can_issue(), slots_attach(), and ceiling_learn(), by an ID while
// `ceiling_known` is false; ceiling_raise(), by the first ID above the alert. Also: ceiling_cover()
// and ceiling_hold(), by moves; ceiling_lift(), for skipped times and for IDs above a moment;
// ceiling_set_back(), by snowid.return_to_clock(). ceiling_storage.hpp is for this module alone.
//
// Shared: Ceiling of the entry. Lock order: relation, Ceiling::lock, buffers or partitions.
//
// A transaction that created the sequence, as CREATE EXTENSION does, uses a transaction-local copy,
// because the sequence is invisible to other sessions, and may be rolled back.
#pragma once

#include "pg/postgres.hpp"

#include "core/ceiling.hpp"
#include "pg/ceiling/ceiling_storage.hpp"
#include "pg/database/database.hpp"

extern "C" {
#include "access/xlogdefs.h"
}

namespace snowid::pg {

// snowid.ceiling_step, 10 to 5000 ms: after a restart, callers may wait that long, at most the
// default of snowid.max_wait. See core/ceiling.hpp.
extern int ceiling_step_ms;
inline int64 ceiling_step_us() { return int64{ceiling_step_ms} * 1000; }

void ceiling_register();

// Whether this session's sequence is that of the shared state. Reset by relcache invalidations.
// Always false in a transaction that created the sequence.
extern bool ceiling_known;
void on_relcache_ceiling(Oid relid);

// Whether this transaction uses a transaction-local ceiling.
bool has_own_ceiling() noexcept;

// Raises: 25006 during recovery; 25000 in a parallel worker.
void require_can_issue();

// Makes the ceiling in memory durable in this database's sequence. If the sequence holds more than
// this server wrote, all shards are lifted to that time. Sets `my_ceiling`, and `ceiling_known`
// except in a transaction that created the sequence. Requires: require_can_issue(), slots_attach().
// Raises: 55000 if this transaction replaced the sequence's storage, or dropped the previous one.
//
// Like all functions below, which require it, it also raises: 55000 if the sequence is missing or
// not permanent; 0A000 if its page has another version; 57014 if a wait for standbys is canceled.
void ceiling_learn();

inline const core::SkippedTimes& skipped_times() noexcept {
  static constexpr core::SkippedTimes kNone{};
  const SharedSkippedTimes& skipped = shared_database->skipped;
  return skipped.has_any.load(std::memory_order_acquire) ? skipped.times : kNone;
}

// Every time up to it counts as used.
inline core::UnixMicros shared_floor() noexcept {
  return {shared_database->ceiling.floor_us.load(std::memory_order_acquire)};
}

// Upper bound on the alert: a day before the next skipped times, unchecked by the fast path.
inline core::UnixMicros last_alert() noexcept {
  return unlifted_until(skipped_times(), shared_floor());
}

// The alert during a raise for an ID at `moment`: a little further, to keep other sessions away.
inline int64 next_alert_us(core::UnixMicros moment) {
  return moment.value + ceiling_step_us() / 8 + 1;
}

// Raises the ceiling according to `wish`, unless it is high enough. With kMust, it is at or above
// `moment`, the ID's time, on return. With kEarly and such a ceiling, it returns at once if the
// relation's lock is not free, and waits for disk and standby only if the sequence was replaced: it
// writes ahead, and the next raise publishes what has become durable.
void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency);

// Makes the ceiling durable at or above `moment`.
void ceiling_cover(core::UnixMicros moment);

// Lifts all shards durably above `moment`: no ID is at or below it again, even after a rollback.
void ceiling_lift(core::UnixMicros moment);

// Stores a ceiling, possibly a lower one, and the skipped times. Survives a rollback, like setval.
// Returns the WAL record's end, for sequence_make_durable(). IDs may be issued before: if a crash
// loses the record, the previous ceiling counts, no lower, or not above what was durable then.
// Requires: AccessExclusiveLock on the database, no other sessions, no transaction-local ceiling.
XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::SkippedTimes& skipped);

// Keeps other transactions from replacing the sequence until this one ends.
void ceiling_hold();

}  // namespace snowid::pg
