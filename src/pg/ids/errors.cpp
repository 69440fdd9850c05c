// The wording of errors. See errors.hpp.
#include "pg/ids/errors.hpp"

#include "pg/clock.hpp"
#include "pg/ids/settings.hpp"
#include "pg/types/layout.hpp"

namespace snowid::pg {

void report_used_up(const core::Layout& layout) {
  ereport(ERROR, (errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
                  errmsg("the time of ID layout \"%s\" is used up", layout_text(layout.spec)),
                  errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
                  errhint("Use another layout, or the same one with a later epoch.")));
  pg_unreachable();
}

namespace {

constexpr int64 kMinuteUs = SECS_PER_MINUTE * USECS_PER_SEC;

// The snowid.max_lead that lets an ID be as far ahead of the clock, with a minute to spare, in
// minutes.
constexpr int64 lead_minutes(int64 ahead_us) noexcept { return ahead_us / kMinuteUs + 2; }

// Whether the setting can have that value.
constexpr bool any_lead_allows(int64 ahead_us) noexcept {
  return lead_minutes(ahead_us) <= PG_INT32_MAX * int64{1000} / kMinuteUs;
}

// What a superuser types so that IDs may be as far ahead of the clock. ALTER SYSTEM does not know
// the setting before the library is loaded, up to PostgreSQL 16.
const char* allow_text(int64 ahead_us) {
  return psprintf("LOAD 'snowid'; ALTER SYSTEM SET snowid.max_lead = '" INT64_FORMAT
                  "min'; SELECT pg_reload_conf();",
                  lead_minutes(ahead_us));
}

// The hint of the error: why the next ID is ahead of the clock, as far as that follows from the
// layout, and what to do.
int hint_at_next(const NextId& next, int64 behind_us) {
  if (next.time == next.layout.epoch) return errhint("The layout begins then.");
  const int64 unit_us = next.layout.unit_us;
  if (unit_us > max_wait_us() && behind_us <= unit_us + max_lead_us())
    return errhint(
        "A unit of the layout takes longer than that. When all of its sequence is used, "
        "or the server has started in the middle of it, IDs go on with the next one.");
  if (behind_us <= kMinuteUs)
    return errhint(
        "Set the server's clock right. If it is right, wait until it has caught up, or let IDs run "
        "further ahead of it, as a superuser: %s",
        allow_text(behind_us));
  if (!any_lead_allows(behind_us))
    return errhint(
        "Set the server's clock right. If it is right, and was ahead before, return to it, as a "
        "superuser, by snowid.return_to_clock() with the times that snowid.future_times() finds.");
  return errhint(
      "Set the server's clock right. If it is right, and was ahead before, return to it, as a "
      "superuser, by snowid.return_to_clock() with the times that snowid.future_times() finds; or "
      "wait until it has caught up; or let IDs run further ahead of it: %s",
      allow_text(behind_us));
}

int hint_at_ahead(int64 ahead_us, int wait_ms) {
  if (!any_lead_allows(ahead_us)) return errhint("Compare the clocks of the two servers.");
  if (wait_ms == 0)
    return errhint(
        "Compare the clocks of the two servers. If they are right, let IDs run further ahead, as a "
        "superuser: %s",
        allow_text(ahead_us));
  return errhint(
      "Compare the clocks of the two servers. If they are right, wait, or let IDs run further "
      "ahead, as a superuser: %s",
      allow_text(ahead_us));
}

}  // namespace

const char* behind_text(int64 behind_us) {
  return psprintf("The clock is %s behind the next ID.", span_text(behind_us));
}

void report_clock_behind(const NextId& next, int64 behind_us) {
  ereport(
      ERROR,
      (errcode(kClockBehind),
       next.has_shard
           ? errmsg("clock is %s behind the next ID of shard " UINT64_FORMAT " of layout \"%s\"",
                    span_text(behind_us), next.shard.value, layout_text(next.layout.spec))
           : errmsg("clock is %s behind the next ID", span_text(behind_us)),
       errdetail("The next ID's time is %s; \"snowid.max_lead\" lets it run ahead of the clock "
                 "by %s, and \"snowid.max_wait\" lets a caller wait for %s.",
                 moment_text(next.time), span_text(max_lead_us()), span_text(max_wait_us())),
       hint_at_next(next, behind_us)));
  pg_unreachable();
}

void report_ahead(const char* what, int64 ahead_us, int wait_ms) {
  ereport(ERROR,
          (errcode(kClockBehind), errmsg("%s is %s ahead of the clock", what, span_text(ahead_us)),
           wait_ms == 0
               ? errdetail("\"snowid.max_lead\" allows %s.", span_text(max_lead_us()))
               : errdetail("\"snowid.max_lead\" allows %s, and \"snowid.max_wait\" lets a caller "
                           "wait for %s.",
                           span_text(max_lead_us()), span_text(int64{wait_ms} * 1000)),
           hint_at_ahead(ahead_us, wait_ms)));
  pg_unreachable();
}

}  // namespace snowid::pg
