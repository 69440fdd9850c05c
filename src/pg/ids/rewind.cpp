// snowid_rewind(): says that a clock which ran ahead has used up an interval of times, and has IDs
// go on by the clock.
//
// It lowers what otherwise only grows. So it has the relation of the ceiling locked, exclusively,
// until its transaction ends: nobody raises the ceiling meanwhile, and with the ceiling at what the
// clock allows now nobody issues more than that. Then it waits until every process has been
// interrupted once: who has read the clock when it was wild, or the ceiling, and not yet taken an
// ID, has taken it by then, or looks again. Only then are slots set back.
//
// What becomes of the transaction the next one to look at the ceiling learns, who has to wait for
// it: either the row is there, and the ceiling on the pages is taken for what was rewound to
// (ceiling_page.hpp), or it is not, and counts as after a restart: no ID up to there.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ceiling.hpp"
#include "pg/ids/ceiling_page.hpp"
#include "pg/ids/closing.hpp"
#include "pg/ids/ids.hpp"
#include "pg/ids/rewinds_table.hpp"

namespace snowid::pg {

namespace {

// One before the greatest value of the sequence, so that there is one above.
constexpr core::UnixMicros kLatest{253402300799998000};

// Opens the sequence that the ceiling is durable in, in ExclusiveLock.
Relation lock_for_rewinding() {
  for (;;) {
    CHECK_FOR_INTERRUPTS();
    // Another one may have rewound since this session has learned it.
    ceiling_known = false;
    ceiling_learn();
    if (HasStandIn())
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("cannot rewind in a transaction that has made the ceiling anew")));
    LWLockAcquire(&shared_database->lock, LW_SHARED);
    const Oid relid = shared_database->relation;
    LWLockRelease(&shared_database->lock);
    Relation relation = OidIsValid(relid) ? try_relation_open(relid, ExclusiveLock) : nullptr;
    if (relation == nullptr) continue;
    LWLockAcquire(&shared_database->lock, LW_SHARED);
    const bool is_same = shared_database->relation == relid;
    LWLockRelease(&shared_database->lock);
    if (is_same) return relation;
    relation_close(relation, ExclusiveLock);
  }
}

bool IsAhead(core::UnixMicros from, core::UnixMicros now) {
  return from.value - now.value > usual_lead_us() + core::kFarthestUs;
}

// Fails with 22023 where the clock is too near, or past it.
void require_ahead(core::UnixMicros from, core::UnixMicros now) {
  if (IsAhead(from, now)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("moment is not ahead of the clock by more than " INT64_FORMAT " ms",
                         (usual_lead_us() + core::kFarthestUs) / 1000),
                  errdetail("IDs go on before it, and step over the times from it on."),
                  errhint("Set the clock right first. Then give the time of the first ID that "
                          "the wrong clock has issued; snowid_timestamp() tells it.")));
}

// What is to be wild. It begins earlier than was said, where others have used the times before that
// without a break, and the clock has yet to come to them. IDs go on by the clock, or above those of
// before it ran ahead, should it have been put back too far. Fails with 22023 where there may be
// such up to the moment, far from now.
core::Wild wild_from(Relation relation, core::UnixMicros from, core::UnixMicros now) {
  constexpr int64 kLongUs = USECS_PER_MINUTE;
  constexpr int64 kSlackUs = core::CeilingHistory::kShortestGapMillis * 1000 / 2;
  const CeilingPage page = ceiling_page_lock(relation);
  UsedBefore used = LastUsedBefore(page, {from.value / 1000});
  // Somewhat before, in the gap: who has read the clock before the first of them has an earlier ID.
  const core::UnixMicros since{used.since.value - kSlackUs};
  if (used.since.value > 0 && IsAhead(since, now)) {
    from = since;
    used = LastUsedBefore(page, {from.value / 1000});
  }
  ceiling_page_unlock(page);
  const core::UnixMicros allowed{now.value + usual_lead_us()};
  if (used.since.value > 0 && used.last.value - allowed.value > kLongUs)
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("IDs may have any time up to %s", moment_text(from)),
             errdetail("They were issued from %s on without a break.", moment_text(used.since)),
             errhint("Set the clock right, or wait until it has come to what was issued.")));
  return {from, {0}, MicrosOf(core::RoundUp(std::max(allowed, used.last)))};
}

// Fails with 22023 where a shard has used a time between what the clock allows and `from`.
void require_unused(core::UnixMicros to, core::UnixMicros from) {
  UsedTime used;
  if (!find_used_between(to, from, &used)) return;
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("shard " UINT64_FORMAT " of layout \"%s\" has used times up to %s",
                         used.key.shard, layout_text(used.key.layout), moment_text(used.time)),
                  errdetail("That is ahead of the clock, and before the moment that was given."),
                  errhint("Give the time of the first ID that the wrong clock has issued.")));
}

// Has memory and pages say that this transaction is about to rewind. Returns false where no time
// from wild->from on was used. Sets wild->until to the last one that may have been.
bool begin(Relation relation, core::Wild* wild) {
  const TransactionId transaction = GetCurrentTransactionId();
  LWLockAcquire(&shared_database->lock, LW_EXCLUSIVE);
  const CeilingPage page = ceiling_page_lock(relation);
  const int64 paged_us = MicrosOf(CeilingOn(page)).value;
  wild->until = {std::max({paged_us, shared_database->written_us,
                           shared_database->ceiling_us.load(std::memory_order_relaxed)})};
  wild->until = std::min(wild->until, kLatest);
  const bool is_used = wild->until >= wild->from;
  if (is_used) ceiling_page_mark(page, *wild);
  ceiling_page_unlock(page);
  if (is_used) {
    const int64 to_us = wild->rewound_to.value;
    shared_database->rewinding.store(transaction, std::memory_order_release);
    shared_database->relation = InvalidOid;
    // At once, so that whoever comes after the barrier knows it. Where the transaction is rolled
    // back all IDs are above it anyway.
    AddWild(&shared_database->wild, *wild);
    shared_database->has_wild.store(true, std::memory_order_release);
    shared_database->written_us = to_us;
    shared_database->written_lsn = InvalidXLogRecPtr;
    // In this order: who reads the alert first moves it on by the ceiling that he reads then.
    shared_database->ceiling_us.store(to_us, std::memory_order_release);
    shared_database->alert_us.store(to_us, std::memory_order_release);
  }
  LWLockRelease(&shared_database->lock);
  return is_used;
}

// Waits until every process has come to where it looks for interrupts. To close the files of
// relations is the one thing that all of them can be asked to do then.
void wait_for_all_processes() {
  WaitForProcSignalBarrier(EmitProcSignalBarrier(PROCSIGNAL_BARRIER_SMGRRELEASE));
}

core::Wild rewind(core::UnixMicros from) {
  ceiling_learn();
  // Once before anything is locked: who does not answer, a client that has begun to send rows, say,
  // keeps nobody but this caller waiting.
  wait_for_all_processes();
  Relation relation = lock_for_rewinding();
  // Where IDs step over an earlier wild time they are ahead of the clock.
  const core::UnixMicros now = ClockPastWild(unix_now());
  require_ahead(from, now);
  ceiling_page_extend(relation);
  core::Wild wild = wild_from(relation, from, now);
  require_unused(wild.rewound_to, wild.from);
  if (!begin(relation, &wild))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("no ID of this database has a time as late as %s", moment_text(from)),
                    errdetail("The latest may be of %s.", moment_text(wild.until))));
  wait_for_all_processes();
  require_unused(wild.rewound_to, wild.from);
  if (common_set_back_hook != nullptr) common_set_back_hook();
  set_slots_back(wild);
  open_used_up(wild);
  rewinds_insert(wild);
  relation_close(relation, NoLock);
  return wild;
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_rewind);

// snowid_rewind(before timestamptz) → (wild_from timestamptz, wild_until timestamptz)
Datum snowid_rewind(PG_FUNCTION_ARGS) {
  const TimestampTz before = PG_GETARG_TIMESTAMPTZ(0);
  require_read_write("snowid_rewind()");
  if (TIMESTAMP_NOT_FINITE(before))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("moment must be finite")));
  // In whole milliseconds, as the ceiling is.
  const core::Wild wild = rewind({from_timestamptz(before).value / 1000 * 1000});
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  Datum values[] = {TimestampTzGetDatum(to_timestamptz(wild.from)),
                    TimestampTzGetDatum(to_timestamptz(wild.until))};
  bool nulls[lengthof(values)] = {};
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}
}
