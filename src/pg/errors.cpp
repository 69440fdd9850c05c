// The wording of errors. See errors.hpp.
#include "pg/errors.hpp"

#include "pg/clock.hpp"
#include "pg/layouts.hpp"
#include "pg/settings.hpp"

namespace snowid::pg {

namespace {

// timestamptz_to_str has one buffer, and a message may need two times.
const char* text_of(core::UnixMicros moment) {
  return pstrdup(timestamptz_to_str(to_timestamptz(moment)));
}

}  // namespace

void report_status(const core::Layout& layout, core::Status status) {
  switch (status) {
    case core::Status::kTimeOutOfRange:
      ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                      errmsg("time is out of range for ID layout \"%s\"", layout_text(layout.spec)),
                      errdetail("Its times go from %s to before %s.", text_of(layout.epoch),
                                text_of(layout.end))));
      break;
    case core::Status::kNegativeId:
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("ID layout \"%s\" has no negative IDs", layout_text(layout.spec))));
      break;
    case core::Status::kIdOutOfRange:
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("ID is out of range for ID layout \"%s\"", layout_text(layout.spec)),
                      errdetail("Its IDs go from 0 to " INT64_FORMAT ".", layout.max_id.value)));
      break;
    default:
      elog(ERROR, "unexpected status %d", static_cast<int>(status));
  }
  pg_unreachable();
}

void report_shard_out_of_range(const core::Layout& layout, int64 shard) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("shard " INT64_FORMAT " is out of range for ID layout \"%s\"", shard,
                         layout_text(layout.spec)),
                  errdetail("Its shards go from 0 to " UINT64_FORMAT ".", layout.max_shard.value)));
  pg_unreachable();
}

void report_sequence_out_of_range(const core::Layout& layout, int64 sequence) {
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
           errmsg("sequence " INT64_FORMAT " is out of range for ID layout \"%s\"", sequence,
                  layout_text(layout.spec)),
           errdetail("Its sequences go from 0 to " UINT64_FORMAT ".", layout.max_sequence.value)));
  pg_unreachable();
}

void require_count(int32 count, int64 least, int64 most) {
  if (count >= least && count <= most) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("count %d is out of range", count),
           errdetail("It can be " INT64_FORMAT " to " INT64_FORMAT ".", least, most)));
}

void report_used_up(const core::Layout& layout) {
  ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
                  errmsg("the time of ID layout \"%s\" is used up", layout_text(layout.spec)),
                  errdetail("Its last IDs are those before %s.", text_of(layout.end)),
                  errhint("Use another layout, or the same one with a later epoch.")));
  pg_unreachable();
}

void warn_of_end(const core::Layout& layout) {
  ereport(LOG_SERVER_ONLY, (errmsg("the time of ID layout \"%s\" is used up within a year",
                                   layout_text(layout.spec)),
                            errdetail("Its last IDs are those before %s.", text_of(layout.end)),
                            errhint("Move to another layout before then.")));
}

namespace {

// Why the next ID is ahead of the clock, and what to do, as far as the layout tells.
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
                 text_of(next.time), max_lead_ms, max_wait_ms),
       hint_at_next(next)));
  pg_unreachable();
}

void report_read_only(const char* function) {
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
  pg_unreachable();
}

}  // namespace snowid::pg
