// The SQL functions by which a superuser states and reads skipped times (core/skipped_times.hpp).
//
// snowid.return_to_clock() lowers values that otherwise only grow, with no other session connected:
// no process has an outdated clock or ceiling. It locks the database (lock_database()), reads the
// ranges (plan_of()), checks all that may fail (require_stated()), changes the ceiling's pages
// (ceiling_set_back()) and memory (set_memory_back()), unlocks the database, and waits until the
// change is durable. A rollback does not undo it.
//
// Shared: Database and its slots, used by no other session then; and the common slots, which other
// databases keep using: their ticks may repeat, so ObjectIDs get another random number.
#include "pg/postgres.hpp"

#include "pg/ceiling/ceiling.hpp"
#include "pg/clock.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/shards.hpp"
#include "pg/types/layout.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "catalog/pg_database.h"
#include "storage/lmgr.h"
#include "storage/procarray.h"
#include "utils/multirangetypes.h"
#include "utils/rangetypes.h"
}

namespace snowid::pg {

namespace {

// Keeps sessions out, by the lock taken by ALTER DATABASE, and by each session while it begins.
// Raises: 55P03 if the lock is not free for 5 s; 55006 if sessions are left.
void lock_database() {
  // As long as CountOtherDBBackends().
  constexpr int kTries = 50;
  constexpr long kBetweenTriesMs = 100;
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
  // Without queueing, because new sessions would wait behind it.
  for (int i = 0; LockAcquire(&tag, AccessExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL;
       i++) {
    if (i == kTries)
      ereport(ERROR, errcode(ERRCODE_LOCK_NOT_AVAILABLE),
              errmsg("could not lock database \"%s\"", get_database_name(MyDatabaseId)),
              errhint("Try again when no session connects to it or alters it."));
    nap(kBetweenTriesMs, WAIT_EVENT_PG_SLEEP);
  }
  int sessions;
  int prepared;
  if (!CountOtherDBBackends(MyDatabaseId, &sessions, &prepared)) return;
  ereport(ERROR, errcode(ERRCODE_OBJECT_IN_USE),
          errmsg("database \"%s\" is being accessed by other sessions",
                 get_database_name(MyDatabaseId)),
          errdetail("Other sessions: %d. Prepared transactions: %d.", sessions, prepared),
          errhint("No other session may be connected. End those in pg_stat_activity with "
                  "pg_terminate_backend(), and prepared transactions with COMMIT PREPARED or "
                  "ROLLBACK PREPARED."));
}

// Raises: 22023.
[[noreturn]] void report_bad(const char* message) {
  ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg_internal("%s", message),
          errhint("State the times of all IDs issued by the fast clock, and the ceiling's: "
                  "snowid.future_times() returns them."));
}

struct ReturnPlan {
  core::SkippedTimes skipped;
  // The new start of IDs: the upper bound for the right clock, as stated.
  core::UnixMicros resume;
};

// The bound of a range in microseconds, clamped to the sequence's range.
core::UnixMicros moment_of(const RangeBound& bound) noexcept {
  constexpr core::UnixMicros kLatest{253402300799999000};
  if (bound.infinite) return bound.lower ? core::UnixMicros{0} : kLatest;
  const core::UnixMicros moment = from_timestamptz(DatumGetTimestampTz(bound.val));
  return std::clamp(moment, core::UnixMicros{0}, kLatest);
}

// Whether a range is within a known one, and may therefore have begun.
bool is_known(const core::SkippedRange& range) noexcept {
  const core::SkippedRange* around = range_at(skipped_times(), range.from);
  return around != nullptr && range.until <= around->until;
}

// Reads the argument, and adds the known ranges, except long past ones. Raises: 22023 if it is
// empty, a range is too near, or there are too many.
ReturnPlan plan_of(FunctionCallInfo fcinfo) {
  const core::UnixMicros clock = unix_now();
  // While IDs step over a range, those of the right clock are above it.
  const core::UnixMicros now = lead_from_now(clock);
  const int64 early_us = lift_early_us();
  const MultirangeType* argument = PG_GETARG_MULTIRANGE_P(0);
  TypeCacheEntry* type = multirange_get_typcache(fcinfo, MultirangeTypeGetOid(argument));
  int32 given;
  RangeType** ranges;
  multirange_deserialize(type->rngtype, argument, &given, &ranges);
  if (given == 0) report_bad("no times were given");
  const core::SkippedTimes& known = skipped_times();
  auto* all =
      static_cast<core::SkippedRange*>(palloc((given + known.count) * sizeof(core::SkippedRange)));
  int64 count = 0;
  for (int32 i = 0; i < given; i++) {
    RangeBound lower;
    RangeBound upper;
    bool is_empty;
    range_deserialize(type->rngtype, ranges[i], &lower, &upper, &is_empty);
    // Whole milliseconds, like ceiling and floor, both inclusive.
    const core::SkippedRange range{{moment_of(lower).value / 1000 * 1000},
                                   micros_of(round_up(moment_of(upper)))};
    if (!is_known(range) && is_too_near(range, now))
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("future times must begin more than %s ahead of the clock",
                     span_text(now.value - clock.value + core::kLiftEarlyUs)),
              errdetail("One of the ranges begins at %s.", moment_text(range.from)),
              errhint("If the fast clock was ahead by less, IDs continue when the right clock has "
                      "caught up, or at once with a greater \"snowid.max_lead\"."));
    all[count++] = range;
  }
  for (int64 i = 0; i < known.count; i++)
    if (!is_long_past(known.at[i], clock, early_us)) all[count++] = known.at[i];
  count = join_ranges(all, count, clock, early_us);
  if (count > core::SkippedTimes::kMost)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("too many ranges of future times: " INT64_FORMAT, count),
            errdetail("A database keeps %d ranges of the future.", core::SkippedTimes::kMost),
            errhint("State fewer and longer ranges: the time between two of them may be "
                    "stepped over as well."));
  ReturnPlan plan{{}, right_until(now)};
  plan.skipped.count = count;
  std::copy_n(all, count, plan.skipped.at);
  return plan;
}

// Raises: 22023 if a possibly used time ahead of the clock is in no range.
void require_stated(const ReturnPlan& plan, core::UnixMicros ceiling) {
  const core::UnixMicros nearly{plan.resume.value + core::kFarthestUs};
  if (ceiling > nearly && range_at(plan.skipped, ceiling) == nullptr)
    report_bad(
        psprintf("the ceiling of IDs, %s, is in none of the given ranges", moment_text(ceiling)));
  const core::UnixMicros floor = shared_floor();
  if (floor > nearly && range_at(plan.skipped, floor) == nullptr)
    report_bad(
        psprintf("all times up to %s may have been used, and that is in none of the given ranges",
                 moment_text(floor)));
  SlotKey contradicts{};  // a slot that used a time in no range
  core::UnixMicros used{0};
  for_each_slot([&](const Slot* slot, const core::Layout& layout) {
    // It is closed, or its layout exhausted, as by a clock far ahead.
    if (is_at_end(slot, layout)) return;
    const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
    const core::UnixMicros start = start_of(layout, time_of(layout, last));
    if (start <= plan.resume || is_skipped_unit(plan.skipped, layout, start)) return;
    contradicts = slot->key;
    used = start;
  });
  if (used.value > 0)
    report_bad(
        psprintf("shard " UINT64_FORMAT
                 " of layout \"%s\" has used the time %s, which is in none of the given ranges",
                 contradicts.shard, layout_text(contradicts.layout), moment_text(used)));
}

// Lowers a slot in a skipped time. Opens one at its end, closed again if it was released.
void set_slot_back(Slot* slot, const core::Layout& layout, const ReturnPlan& plan) noexcept {
  uint64_t last = slot->last_tick.load(std::memory_order_acquire);
  const core::Tick resume = last_tick_at(layout, plan.resume);
  if (is_at_end(slot, layout)) {
    if (OidIsValid(slot->key.database))
      open_tick(slot->last_tick, std::max(resume, my_start_tick(layout)));
    return;
  }
  const core::UnixMicros start = start_of(layout, time_of(layout, {last}));
  if (start > plan.resume && is_skipped_unit(plan.skipped, layout, start))
    slot->last_tick.compare_exchange_strong(last, resume.value);
}

// Lowers slots and floor in memory. Raises: as ids_learn_ceiling(), which the next ID calls again.
void set_memory_back(const ReturnPlan& plan) {
  assert_has_object_lock(DatabaseRelationId, MyDatabaseId, AccessExclusiveLock, InvalidOid);
  // The right clock may have used removed slots up to `resume`.
  const int64 resume_us = plan.resume.value;
  if (range_at(plan.skipped, shared_floor()) != nullptr || shared_floor() < plan.resume)
    shared_database->ceiling.floor_us.store(resume_us, std::memory_order_release);
  shared_database->swept_us.store(0, std::memory_order_release);
  shared_database->swept_ceiling_us.store(0, std::memory_order_release);
  shared_database->watermark_us.store(0, std::memory_order_release);
  // Until ids_learn_ceiling() below, slots of released shards may be open.
  database_doubt();
  ceiling_known = false;
  constexpr bool kWithCommon = true;
  for_each_slot([&](Slot* slot, const auto& layout) { set_slot_back(slot, layout, plan); },
                kWithCommon);
  ids_learn_ceiling();
}

}  // namespace

SNOWID_FUNCTION(snowid_return_to_clock) {
  require_nextval("snowid.return_to_clock()");
  lock_database();
  ids_learn_ceiling();
  if (has_own_ceiling())
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("cannot return to the clock in a transaction that has created the ceiling"));
  // Slots are closed again according to rows that this transaction sees and may roll back.
  if (is_durable_commit_required())
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("cannot return to the clock in a transaction that has moved a shard or a "
                   "node's number"),
            errhint("Commit it, and call the function in another one."));
  const ReturnPlan plan = plan_of(fcinfo);
  const core::UnixMicros ceiling = micros_of(ceiling_read().ceiling);
  require_stated(plan, ceiling);
  const bool is_ahead = range_at(plan.skipped, ceiling) != nullptr && ceiling > plan.resume;
  // Before any change, because it may fail.
  if (is_ahead) objectid_begin_setting_back();
  const XLogRecPtr lsn = ceiling_set_back(is_ahead ? plan.resume : ceiling, plan.skipped);
  if (is_ahead) {
    set_memory_back(plan);
    objectid_end_setting_back();
  }
  UnlockSharedObject(DatabaseRelationId, MyDatabaseId, 0, AccessExclusiveLock);
  sequence_make_durable(lsn);
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_get_skipped_times) {
  InitMaterializedSRF(fcinfo, 0);
  const core::SkippedTimes skipped = ceiling_read().skipped;
  for (int64 i = 0; i < skipped.count; i++) {
    Datum values[] = {TimestampTzGetDatum(to_timestamptz(skipped.at[i].from)),
                      TimestampTzGetDatum(to_timestamptz(skipped.at[i].until))};
    bool nulls[lengthof(values)] = {};
    put_row(fcinfo, values, nulls);
  }
  PG_RETURN_NULL();
}

}  // namespace snowid::pg
