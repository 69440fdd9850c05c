// The SQL functions by which a superuser states which times a wrong clock has used, and reads which
// are known.
//
// Rewinding lowers what otherwise only grows. So no other session may be connected to the database,
// and none may begin: no process has read a clock or a ceiling that is no longer true. First, all
// that may fail is checked. Then the ceiling's pages are changed, and memory with them. At last the
// caller waits until that is durable. It stays if the transaction rolls back.
//
// Shared: Database and the slots of this database, which nobody else looks at. And the slots that
// all databases share, which other sessions go on using: ticks that are drawn from those may come
// again, so ObjectIDs get another random number.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/database/database.hpp"
#include "pg/debug.hpp"
#include "pg/errors.hpp"
#include "pg/ids/ids.hpp"
#include "pg/types/layout.hpp"
#include "pg/types/objectid.hpp"

namespace snowid::pg {

namespace {

// CountOtherDBBackends() tries as long.
constexpr int kTries = 50;
constexpr long kBetweenTriesMs = 100;

// The lock that ALTER DATABASE takes, and each session while it begins.
LOCKTAG lock_tag() {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
  return tag;
}

// The process IDs of others that are connected to this database, as text.
const char* others_text() {
  StringInfoData text;
  initStringInfo(&text);
  pgstat_clear_backend_activity_snapshot();
  for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++) {
    const LocalPgBackendStatus* local = local_backend(i);
    if (local == nullptr) continue;
    const PgBackendStatus& backend = local->backendStatus;
    if (backend.st_databaseid == MyDatabaseId && backend.st_procpid != MyProcPid)
      appendStringInfo(&text, "%s%d", text.len > 0 ? ", " : "", backend.st_procpid);
  }
  return text.data;
}

}  // namespace

void alone_lock() {
  const LOCKTAG tag = lock_tag();
  // Tries without queueing: sessions that begin would wait behind it in the queue.
  for (int i = 0; LockAcquire(&tag, AccessExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL;
       i++) {
    if (i == kTries)
      ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                      errmsg("could not lock database \"%s\"", get_database_name(MyDatabaseId)),
                      errhint("Try again when nobody connects to it, or alters it.")));
    nap(kBetweenTriesMs, WAIT_EVENT_PG_SLEEP);
  }
  int sessions;
  int prepared;
  if (!CountOtherDBBackends(MyDatabaseId, &sessions, &prepared)) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_IN_USE),
       errmsg("database \"%s\" is being accessed by others", get_database_name(MyDatabaseId)),
       errdetail("Other sessions: %d (process IDs: %s). Prepared transactions: %d.", sessions,
                 sessions > 0 ? others_text() : "none", prepared),
       errhint("Nobody else may be connected. End the sessions with pg_terminate_backend(), and "
               "prepared transactions with COMMIT PREPARED or ROLLBACK PREPARED.")));
}

void alone_unlock() {
  const LOCKTAG tag = lock_tag();
  LockRelease(&tag, AccessExclusiveLock, false);
}

namespace {

// The greatest value of the sequence, in microseconds.
constexpr core::UnixMicros kLatest{253402300799999000};

[[noreturn]] void report_bad(const char* message) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg_internal("%s", message),
           errhint("State the times of all IDs that the wrong clock has made, and the ceiling's: "
                   "snowid.future_times() finds them.")));
  pg_unreachable();
}

// What a call has to do.
struct Plan {
  core::WildTimes wild;
  // IDs go on above this: no ID of the right clock is above it, by what has been said.
  core::UnixMicros resume;
  int64 early_us;
  List* used_up;  // keys of slots at their end that the wrong clock has brought there
};

// The bound of a range in microseconds; 0 or kLatest where it is beyond, or there is none.
core::UnixMicros moment_of(const RangeBound& bound) noexcept {
  if (bound.infinite) return bound.lower ? core::UnixMicros{0} : kLatest;
  const core::UnixMicros moment = from_timestamptz(DatumGetTimestampTz(bound.val));
  return std::clamp(moment, core::UnixMicros{0}, kLatest);
}

// The ranges of the argument, with those that are known and not long past, in a palloc'd array.
core::Wild* ranges_of(FunctionCallInfo fcinfo, core::UnixMicros now, int64 early_us, int64* count) {
  const MultirangeType* argument = PG_GETARG_MULTIRANGE_P(0);
  TypeCacheEntry* type = multirange_get_typcache(fcinfo, MultirangeTypeGetOid(argument));
  int32 given;
  RangeType** ranges;
  multirange_deserialize(type->rngtype, argument, &given, &ranges);
  if (given == 0) report_bad("no times were given");
  const core::WildTimes& known = wild_times_now();
  auto* all = static_cast<core::Wild*>(palloc((given + known.count) * sizeof(core::Wild)));
  *count = 0;
  for (int32 i = 0; i < given; i++) {
    RangeBound lower;
    RangeBound upper;
    bool is_empty;
    range_deserialize(type->rngtype, ranges[i], &lower, &upper, &is_empty);
    // Whole milliseconds, as the ceiling and the floor are, with both ends.
    all[(*count)++] = {{moment_of(lower).value / 1000 * 1000},
                       micros_of(round_up(moment_of(upper)))};
  }
  for (int64 i = 0; i < known.count; i++)
    if (!is_long_past(known.at[i], now, early_us)) all[(*count)++] = known.at[i];
  return all;
}

// Whether a range lies in one that is known, and so may have begun.
bool is_known(const core::Wild& range) noexcept {
  const core::Wild* around = wild_at(wild_times_now(), range.from);
  return around != nullptr && range.until <= around->until;
}

// What has been said to be wild. Fails with 22023 where the clock is in a range, or nearly so.
Plan plan_of(FunctionCallInfo fcinfo) {
  const core::UnixMicros clock = unix_now();
  // While IDs step over a range, those of the right clock are above it.
  const core::UnixMicros now = lead_from_now(clock);
  Plan plan{{}, right_until(now), lift_early_us(), NIL};
  int64 count;
  core::Wild* ranges = ranges_of(fcinfo, clock, plan.early_us, &count);
  const int64 given = count;
  for (int64 i = 0; i < given; i++) {
    const core::Wild& range = ranges[i];
    if (!is_known(range) && is_too_near(range, now))
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
               errmsg("future times must begin more than %s ahead of the clock",
                      span_text(now.value - clock.value + core::kLiftEarlyUs)),
               errdetail("A range of those given begins at %s.", moment_text(range.from)),
               errhint("If the wrong clock was ahead by less, IDs go on when the right one has "
                       "caught up, or at once with a greater \"snowid.max_lead\".")));
  }
  count = join_wild(ranges, count, clock, plan.early_us);
  if (count > core::WildTimes::kMost)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("too many ranges of future times: " INT64_FORMAT, count),
                    errdetail("A database keeps %d ranges of the future.", core::WildTimes::kMost),
                    errhint("State fewer and longer ranges: the time between two of them may be "
                            "stepped over as well.")));
  plan.wild.count = count;
  std::copy_n(ranges, count, plan.wild.at);
  return plan;
}

// A slot that contradicts what has been said.
struct Contradiction {
  SlotKey key;
  core::UnixMicros start;
  bool is_found;
};

struct Check {
  const Plan* plan;
  Contradiction contradiction;
  SlotKey* ended;  // slots at their end; nullptr while they are counted
  int64 ended_count;
};

void check_slot(Slot* slot, const core::Layout& layout, void* context) noexcept {
  auto* check = static_cast<Check*>(context);
  if (!OidIsValid(slot->key.database)) return;
  // Where it is closed, or its layout is used up, as it is by a clock that ran far ahead.
  if (is_at_end(slot, layout)) {
    if (check->ended != nullptr) check->ended[check->ended_count] = slot->key;
    check->ended_count++;
    return;
  }
  const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
  const core::UnixMicros start = start_of(layout, time_of(layout, last));
  if (start > check->plan->resume && !is_wild_unit(check->plan->wild, layout, start))
    check->contradiction = {slot->key, start, true};
}

// Finds, of the slots that are at their end, those that are not closed.
List* find_used_up(Check* check) {
  List* found = NIL;
  check->ended =
      static_cast<SlotKey*>(palloc(std::max<Size>(1, check->ended_count) * sizeof(SlotKey)));
  check->ended_count = 0;
  visit_slots(check_slot, check);
  for (int64 i = 0; i < check->ended_count; i++) {
    const SlotKey* key = &check->ended[i];
    const core::Layout layout = core::make_layout(key->layout);
    const auto shard = static_cast<int64>(key->shard);
    if (!lock_shard(layout, shard)) found = lappend(found, const_cast<SlotKey*>(key));
    unlock_shard(layout, shard);
  }
  return found;
}

// Fails with 22023 where a time that is ahead of the clock, and may have been used, is in no range.
void require_stated(Plan* plan, core::UnixMicros ceiling) {
  const core::UnixMicros nearly{plan->resume.value + core::kFarthestUs};
  if (ceiling > nearly && wild_at(plan->wild, ceiling) == nullptr)
    report_bad(
        psprintf("the ceiling of IDs, %s, is in none of the given ranges", moment_text(ceiling)));
  const core::UnixMicros floor = shared_floor();
  if (floor > nearly && wild_at(plan->wild, floor) == nullptr)
    report_bad(
        psprintf("all times up to %s may have been used, and that is in none of the given ranges",
                 moment_text(floor)));
  Check check{plan, {}, nullptr, 0};
  visit_slots(check_slot, &check);
  if (check.contradiction.is_found)
    report_bad(
        psprintf("shard " UINT64_FORMAT
                 " of layout \"%s\" has used the time %s, which is in none of the given ranges",
                 check.contradiction.key.shard, layout_text(check.contradiction.key.layout),
                 moment_text(check.contradiction.start)));
  plan->used_up = find_used_up(&check);
}

// A slot whose last tick is in a wild time goes on at `resume`; also one that all databases share.
void set_slot_back(Slot* slot, const core::Layout& layout, void* context) noexcept {
  const auto* plan = static_cast<const Plan*>(context);
  uint64_t last = slot->last_tick.load(std::memory_order_acquire);
  if (last == end_of(layout).value) return;
  const core::UnixMicros start = start_of(layout, time_of(layout, {last}));
  if (start > plan->resume && is_wild_unit(plan->wild, layout, start))
    slot->last_tick.compare_exchange_strong(last, last_tick_at(layout, plan->resume).value);
}

// Sets back what is in memory. It fails only where a slot at its end has been removed since it was
// found, and memory for another one is refused.
void set_memory_back(const Plan& plan) {
  assert_has_shared_object_lock(DatabaseRelationId, MyDatabaseId, AccessExclusiveLock);
  // Slots that a sweep has removed may have been used by the right clock up to `resume`.
  const int64 resume_us = plan.resume.value;
  if (wild_at(plan.wild, shared_floor()) != nullptr || shared_floor() < plan.resume)
    shared_ceiling->floor_us.store(resume_us, std::memory_order_release);
  shared_database->swept_us.store(0, std::memory_order_release);
  shared_database->swept_ceiling_us.store(0, std::memory_order_release);
  shared_database->watermark_us.store(0, std::memory_order_release);
  visit_slots(set_slot_back, const_cast<Plan*>(&plan));
  ListCell* cell;
  foreach (cell, plan.used_up) {
    const auto* key = static_cast<const SlotKey*>(lfirst(cell));
    const core::Layout layout = core::make_layout(key->layout);
    Slot* slot = slot_of(layout, static_cast<int64>(key->shard));
    open_slot(slot, layout, last_tick_at(layout, plan.resume));
    let_go(slot);
  }
}

void rewind_alone(FunctionCallInfo fcinfo) {
  ids_learn_ceiling();
  if (has_stand_in())
    ereport(ERROR,
            (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
             errmsg("cannot return to the clock in a transaction that has made the ceiling anew")));
  Plan plan = plan_of(fcinfo);
  const core::UnixMicros ceiling = micros_of(ceiling_read().ceiling);
  require_stated(&plan, ceiling);
  const bool is_wild = wild_at(plan.wild, ceiling) != nullptr && ceiling > plan.resume;
  // Before anything is changed, since it may fail.
  if (is_wild) objectid_draw_anew();
  const XLogRecPtr lsn = ceiling_set_back(is_wild ? plan.resume : ceiling, plan.wild);
  if (is_wild) set_memory_back(plan);
  alone_unlock();
  sequence_make_durable(lsn);
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_return_to_clock);
SNOWID_FUNCTION(snowid_get_skipped_times);

// snowid.return_to_clock(used tstzmultirange) → void
Datum snowid_return_to_clock(PG_FUNCTION_ARGS) {
  require_nextval("snowid.return_to_clock()");
  alone_lock();
  rewind_alone(fcinfo);
  PG_RETURN_VOID();
}

// snowid.get_skipped_times() → tstzmultirange: the wild times that the ceiling's page has.
Datum snowid_get_skipped_times(PG_FUNCTION_ARGS) {
  TypeCacheEntry* type = multirange_get_typcache(fcinfo, TSTZMULTIRANGEOID);
  const core::WildTimes wild = ceiling_read().wild;
  auto** ranges = static_cast<RangeType**>(palloc(core::WildTimes::kMost * sizeof(RangeType*)));
  for (int64 i = 0; i < wild.count; i++) {
    RangeBound lower{TimestampTzGetDatum(to_timestamptz(wild.at[i].from)), false, true, true};
    RangeBound upper{TimestampTzGetDatum(to_timestamptz(wild.at[i].until)), false, true, false};
    ranges[i] = make_range_of(type->rngtype, &lower, &upper);
  }
  PG_RETURN_MULTIRANGE_P(
      make_multirange(TSTZMULTIRANGEOID, type->rngtype, static_cast<int32>(wild.count), ranges));
}
}
