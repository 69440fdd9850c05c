// The wording of errors. See errors.hpp.
#include "pg/ids/errors.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/layouts.hpp"
#include "pg/ids/settings.hpp"

namespace snowid::pg {

void report_used_up(const core::Layout& layout) {
  ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
                  errmsg("the time of ID layout \"%s\" is used up", layout_text(layout.spec)),
                  errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
                  errhint("Use another layout, or the same one with a later epoch.")));
  pg_unreachable();
}

void warn_of_end(const core::Layout& layout) {
  ereport(LOG_SERVER_ONLY, (errmsg("the time of ID layout \"%s\" is used up within a year",
                                   layout_text(layout.spec)),
                            errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
                            errhint("Move to another layout before then.")));
}

namespace {

// The hint of the error: why the next ID is ahead of the clock, as far as that follows from the
// layout, and what to do.
int hint_at_next(const NextId& next) {
  if (next.time == next.layout.epoch) return errhint("The layout begins then.");
  if (next.layout.unit_us > int64{max_wait_ms} * 1000)
    return errhint(
        "A unit of the layout takes longer than that. When all of its sequence is used, "
        "or the server has started in the middle of it, IDs go on with the next one.");
  return errhint(
      "Set the server's clock right. If it is right, wait until it has caught up, or let "
      "a superuser raise \"snowid.max_lead\".");
}

}  // namespace

const char* behind_text(int64 behind_us) {
  return psprintf("The clock is " INT64_FORMAT " ms behind the next ID.", (behind_us + 999) / 1000);
}

void report_clock_behind(const NextId& next, int64 behind_us) {
  ereport(
      ERROR,
      (errcode(kClockBehind),
       next.has_shard
           ? errmsg("clock is " INT64_FORMAT " ms behind the next ID of shard " UINT64_FORMAT
                    " of layout \"%s\"",
                    (behind_us + 999) / 1000, next.shard.value, layout_text(next.layout.spec))
           : errmsg("clock is " INT64_FORMAT " ms behind the next ID", (behind_us + 999) / 1000),
       errdetail("The next ID's time is %s; \"snowid.max_lead\" lets it run ahead of the clock by "
                 "%d ms, and \"snowid.max_wait\" lets a caller wait for %d ms.",
                 moment_text(next.time), max_lead_ms, max_wait_ms),
       hint_at_next(next)));
  pg_unreachable();
}

void report_ahead(const char* what, int64 ahead_us, int wait_ms) {
  ereport(
      ERROR,
      (errcode(kClockBehind),
       errmsg("%s is " INT64_FORMAT " ms ahead of the clock", what, (ahead_us + 999) / 1000),
       wait_ms == 0
           ? errdetail("\"snowid.max_lead\" allows %d ms.", max_lead_ms)
           : errdetail("\"snowid.max_lead\" allows %d ms, and \"snowid.max_wait\" lets a caller "
                       "wait for %d ms.",
                       max_lead_ms, wait_ms),
       errhint("Compare the clocks of the two servers. If they are right, %slet a superuser "
               "raise \"snowid.max_lead\".",
               wait_ms == 0 ? "" : "wait, or ")));
  pg_unreachable();
}

}  // namespace snowid::pg
