// Reading the rows, and stepping over what they say. See wild.hpp.
#include "pg/ids/wild.hpp"

#include "pg/base/clock.hpp"
#include "pg/ids/ceiling.hpp"
#include "pg/ids/rewinds_table.hpp"

namespace snowid::pg {

namespace {

// A time that others have used up may be lifted above by so much more than they may be ahead of the
// clock themselves (kFarthestUs): IDs are above it a little before the clock has come to it.
int64 SoonUs() { return usual_lead_us() + core::kFarthestUs; }

// Units of kinds of ID that have no shards are no longer.
constexpr int64 kShortestUnitUs = USECS_PER_SEC;

// Where a unit of time that begins then ends before the interval, in whatever layout there are
// slots of.
int64 alert_before(const core::Wild& wild) {
  const int64 longest = shared_database->longest_unit_us.load();
  return wild.from.value - std::max(longest, kShortestUnitUs);
}

bool is_shared_known() {
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  const bool is_known = OidIsValid(shared_database->relation);
  LWLockRelease(&shared_database->lock);
  return is_known;
}

}  // namespace

void wild_learn() {
  const uint32 news = shared_database->wild_news.load(std::memory_order_acquire);
  if (is_shared_known() && !rewinds_inserted &&
      news == shared_database->wild_learned.load(std::memory_order_acquire))
    return;
  const core::WildTimes rows = rewinds_read();
  LWLockAcquire(&shared_database->lock, LW_EXCLUSIVE);
  for (int64 i = 0; i < rows.count; i++) AddWild(&shared_database->wild, rows.at[i]);
  shared_database->settled = rows;
  const core::WildTimes times = shared_database->wild;
  if (rows.count > 0) shared_database->has_wild.store(true, std::memory_order_release);
  LWLockRelease(&shared_database->lock);
  LowerAlert(shared_database, times);
  shared_database->wild_learned.store(news, std::memory_order_release);
}

void require_not_rewinding() {
  const TransactionId rewinding = shared_database->rewinding.load(std::memory_order_acquire);
  if (!TransactionIdIsValid(rewinding)) return;
  if (TransactionIdIsCurrentTransactionId(rewinding))
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("cannot issue IDs in the transaction that has called snowid_rewind()"),
                    errhint("Commit it first.")));
  shared_database->rewinding.store(InvalidTransactionId, std::memory_order_release);
}

core::WildTimes WildTimesNow() {
  core::WildTimes times{};
  if (!shared_database->has_wild.load(std::memory_order_acquire)) return times;
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  times = shared_database->wild;
  LWLockRelease(&shared_database->lock);
  return times;
}

KnownWild wild_times_locked() {
  if (!HasStandIn()) return {shared_database->wild, shared_database->settled};
  LWLockAcquire(&shared_database->lock, LW_SHARED);
  const KnownWild known{shared_database->wild, shared_database->settled};
  LWLockRelease(&shared_database->lock);
  return known;
}

int64 WildAlert(const core::WildTimes& times, core::UnixMicros ceiling) {
  const core::Wild* next = WildAfter(times, ceiling);
  return next == nullptr ? PG_INT64_MAX : alert_before(*next);
}

bool is_rewound(core::UnixMicros moment) {
  if (!ceiling_known) ceiling_learn();
  const core::WildTimes times = WildTimesNow();
  const core::Wild* wild = WildAt(times, moment);
  return wild != nullptr &&
         my_database->ceiling_us.load(std::memory_order_acquire) < wild->from.value;
}

void note_unit(const core::Layout& layout) {
  const auto unit = static_cast<int64>(layout.unit_us);
  if (unit <= shared_database->longest_unit_us.load(std::memory_order_acquire)) return;
  // Who raises the ceiling, and stores another alert, has the lock.
  LWLockAcquire(&shared_database->lock, LW_EXCLUSIVE);
  if (unit > shared_database->longest_unit_us.load()) shared_database->longest_unit_us.store(unit);
  const core::WildTimes times = shared_database->wild;
  LWLockRelease(&shared_database->lock);
  LowerAlert(shared_database, times);
  if (HasStandIn()) LowerAlert(my_database, times);
}

void LowerAlert(Database* database, const core::WildTimes& times) {
  const int64 most = WildAlert(times, {database->ceiling_us.load()});
  int64_t alert = database->alert_us.load();
  while (alert > most && !database->alert_us.compare_exchange_weak(alert, most)) {
  }
}

core::UnixMicros ClockPastWild(core::UnixMicros clock) {
  const core::WildTimes times = WildTimesNow();
  const int64 ceiling_us = my_database->ceiling_us.load(std::memory_order_acquire);
  for (int64 i = 0; i < times.count && ceiling_us > times.at[i].until.value; i++)
    clock = ClockBeyond(times.at[i], clock, SoonUs());
  return clock;
}

bool IsPastWild(core::UnixMicros moment) {
  const core::UnixMicros clock = unix_now();
  const core::UnixMicros past = ClockPastWild(clock);
  return past > clock && clock < moment && moment.value <= past.value + SoonUs();
}

WildStep wild_step(const core::Layout& layout, bool is_common) {
  const core::UnixMicros clock = unix_now();
  WildStep step{clock, clock, {PG_INT64_MAX}, {PG_INT64_MAX}, {PG_INT64_MAX}};
  if (likely(!shared_database->has_wild.load(std::memory_order_acquire))) return step;
  core::WildTimes times = WildTimesNow();
  core::UnixMicros past = clock;
  for (int64 i = 0; i < times.count; i++) {
    const core::Wild wild = times.at[i];
    if (my_database->ceiling_us.load(std::memory_order_acquire) < wild.from.value) {
      const int64 begins = wild.from.value - SoonUs();
      if (past.value < begins) {
        // The ceiling, in milliseconds, goes no further than that where units are shorter.
        const core::UnixMicros unit_before{wild.from.value - static_cast<int64>(layout.unit_us)};
        step.limit = std::min(unit_before, MicrosOf(core::MillisBefore(wild)));
        step.alert = {alert_before(wild)};
        step.from = {begins};
        break;
      }
      ceiling_step_over(wild, clock);
      // The clock may have been put back meanwhile, and others have become known.
      return wild_step(layout, is_common);
    }
    past = ClockBeyond(wild, past, SoonUs());
  }
  if (!is_common) step.now = past;
  return step;
}

}  // namespace snowid::pg
