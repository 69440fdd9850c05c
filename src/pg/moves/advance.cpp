// The SQL functions that make a shard, or all shards of a database, issue only IDs above a given ID
// or time.
//
// Shared: a slot's last tick and the ceiling, raised as the room of ids says.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"

namespace snowid::pg {

namespace {

// Has the slot issue only ticks above `last` from now on. Fails with 55000 where it is closed.
void raise_slot(const core::Layout& layout, core::Shard shard, Slot* slot, core::Tick last) {
  uint64_t seen = slot->last_tick.load(std::memory_order_acquire);
  // A closed slot is at the layout's last tick, but must not pass as one that is above `last`: it
  // may be opened again, below.
  for (;;) {
    if (seen == EndOf(layout).value) {
      refuse_released(layout, shard, slot);
      if (IsAtEnd(slot, layout) && IsUsedUp(layout)) return;
      seen = slot->last_tick.load(std::memory_order_acquire);
    } else if (seen >= last.value ||
               slot->last_tick.compare_exchange_weak(seen, last.value, std::memory_order_acq_rel)) {
      return;
    }
  }
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_advance_shard);
SNOWID_FUNCTION(snowid_advance_past_id);
SNOWID_FUNCTION(snowid_advance_past_moment);

// snowid.advance_shard(id bigint, layout snowid_layout) → void
Datum snowid_advance_shard(PG_FUNCTION_ARGS) {
  require_read_write("snowid.advance_shard()");
  PlaceDirectory* directory = directory_of(layout_spec_arg(fcinfo, 1));
  const core::Layout& layout = directory->layout;
  const core::Parts parts = parts_of(layout, PG_GETARG_INT64(0));

  // The ceiling is shared: an ID far ahead would stop every shard of the database at the next
  // start.
  const core::UnixMicros moment = StartOf(layout, parts.time);
  require_ceiling();
  const int64 ahead_us = moment.value - LeadFromNow(unix_now()).value;
  if (ahead_us > max_lead_us()) report_ahead("ID", ahead_us, 0);

  const Place* place = place_of(directory, static_cast<int64>(parts.shard.value));
  ceiling_cover(moment);
  raise_slot(layout, parts.shard, place->slot, MakeTick(layout, parts.time, parts.sequence));
  PG_RETURN_VOID();
}

// snowid.advance_past(id bigint, layout snowid_layout) → void
Datum snowid_advance_past_id(PG_FUNCTION_ARGS) {
  require_nextval("snowid.advance_past()");
  const core::Layout& layout = layout_arg(fcinfo, 1);
  const core::UnixMicros moment = StartOf(layout, parts_of(layout, PG_GETARG_INT64(0)).time);
  wait_until_allowed("ID", moment);
  issue_only_above(moment);
  PG_RETURN_VOID();
}

// snowid.advance_past(moment timestamptz) → void
Datum snowid_advance_past_moment(PG_FUNCTION_ARGS) {
  require_nextval("snowid.advance_past()");
  const TimestampTz argument = PG_GETARG_TIMESTAMPTZ(0);
  if (TIMESTAMP_IS_NOEND(argument))
    ereport(ERROR, (errcode(ERRCODE_DATETIME_VALUE_OUT_OF_RANGE),
                    errmsg("cannot advance all shards to infinity")));
  const core::UnixMicros moment = from_timestamptz(argument);
  // No ID has an earlier time, for the ceiling cannot.
  if (moment.value < 0) PG_RETURN_VOID();
  wait_until_allowed("moment", moment);
  issue_only_above(moment);
  PG_RETURN_VOID();
}
}
