// The wording of errors. See errors.hpp.
#include "pg/errors.hpp"

#include "pg/clock.hpp"
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
                      errmsg("time is out of range for the ID layout"),
                      errdetail("Its times go from %s to before %s.", text_of({layout.epoch_us}),
                                text_of(EndOf(layout)))));
      break;
    case core::Status::kSequenceOutOfRange:
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("sequence is out of range for the ID layout"),
                      errdetail("Its sequences go from 0 to " UINT64_FORMAT ".",
                                layout.MaxSequence().value)));
      break;
    case core::Status::kNegativeId:
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("the ID layout has no negative IDs")));
      break;
    default:
      elog(ERROR, "unexpected status %d", static_cast<int>(status));
  }
  pg_unreachable();
}

void report_shard_out_of_range(const core::Layout& layout, int32 shard) {
  ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                  errmsg("shard %d is out of range for the ID layout", shard),
                  errdetail("Its shards go from 0 to %u.", layout.MaxShard().value)));
  pg_unreachable();
}

void report_used_up(const core::Layout& layout) {
  ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
                  errmsg("the time of the ID layout is used up"),
                  errdetail("Its last IDs are those before %s.", text_of(EndOf(layout)))));
  pg_unreachable();
}

void warn_of_end(const core::Layout& layout) {
  ereport(WARNING, (errmsg("the time of the ID layout is used up within a year"),
                    errdetail("Its last IDs are those before %s.", text_of(EndOf(layout))),
                    errhint("Move to another layout before then.")));
}

void report_clock_behind(core::Shard shard, core::UnixMicros next, int64 behind_us) {
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("clock is " INT64_FORMAT " ms behind the next ID of shard %u",
              (behind_us + 999) / 1000, shard.value),
       errdetail("The next ID's time is %s; \"snowid.max_lead\" lets it run ahead of the clock by "
                 "%d ms, and \"snowid.max_wait\" lets a caller wait for %d ms.",
                 text_of(next), max_lead_ms, max_wait_ms),
       errhint("Set the server's clock right. If it is right, wait until it has caught up, or let "
               "a superuser raise \"snowid.max_lead\".")));
  pg_unreachable();
}

void report_read_only(const char* function) {
  PreventCommandDuringRecovery(function);
  PreventCommandIfReadOnly(function);
  pg_unreachable();
}

}  // namespace snowid::pg
