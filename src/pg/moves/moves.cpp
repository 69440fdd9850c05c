// The SQL functions by which shards move to another server. An ID opens a shard only if it is above
// all that this server has issued of it, released it with, or accepted it with. So of two servers
// that pass a shard to and fro, one has it open at most, whatever IDs are passed twice, late, or
// crosswise.
//
// Shared: the table of shards that have moved and their slots, under moved_lock(); the ceiling. Its
// lock is taken after that of the table (docs/design.md, "The SQL interface"). The wait for the
// clock comes before the locks.
#include "pg/moves/moves.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layout_type.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/moves/pending.hpp"

namespace snowid::pg {

namespace {

// Whether a released shard's ID is of no use: the tick before it is in a skipped time
// (core/wild.hpp), of a clock that ran ahead at the release.
bool is_skipped(const core::Layout& layout, core::Tick free) {
  const core::Tick last{std::max<uint64_t>(free.value, 1) - 1};
  return is_wild_unit(wild_times_now(), layout, start_of(layout, time_of(layout, last)));
}

// Raises 55000 if an ID is not above those of this server. row: nullptr if there is none.
void require_above(const core::Layout& layout, int64 shard, int64 id, core::Tick tick,
                   const Moved* row, const Slot* slot) {
  core::Tick known = row == nullptr ? core::Tick{0} : tick_of_shard(layout, shard, row->id);
  // A slot that is not above its start has issued nothing that is still known.
  const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
  if (!is_at_end(slot, layout) && last > my_start_tick(layout)) known = std::max(known, last);
  if (tick > known || (row == nullptr && known.value == 0)) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("ID " INT64_FORMAT " is not above ID " INT64_FORMAT, id,
              id_of(layout, {static_cast<uint64>(shard)}, known).value),
       row == nullptr || row->is_open
           ? errdetail("Shard " INT64_FORMAT " is open on this server, up to the latter ID.", shard)
           : errdetail("This server has released shard " INT64_FORMAT " with the latter ID.",
                       shard),
       errhint("Pass the ID that snowid.release_shard() has returned on the server where the "
               "shard was open last. If no other server has accepted it since this one has "
               "released it, pass a new ID: snowid_encode(clock_timestamp(), " INT64_FORMAT
               ", 0, '%s').",
               shard, layout_text(layout.spec))));
}

}  // namespace

namespace {

// Has the slot issue only ticks above `last` from now on. Fails with 55000 where it is closed.
void raise_slot(const core::Layout& layout, core::Shard shard, Slot* slot, core::Tick last) {
  uint64_t seen = slot->last_tick.load(std::memory_order_acquire);
  // A closed slot is at the layout's last tick, but must not pass as one that is above `last`: it
  // may be opened again, below.
  for (;;) {
    if (seen == end_of(layout).value) {
      refuse_released(layout, shard, slot);
      if (is_at_end(slot, layout) && is_used_up(layout)) return;
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

SNOWID_FUNCTION(snowid_release_shard);
SNOWID_FUNCTION(snowid_accept_shard);
SNOWID_FUNCTION(snowid_advance_shard);
SNOWID_FUNCTION(snowid_advance_past_id);
SNOWID_FUNCTION(snowid_advance_past_moment);

// snowid.release_shard(shard bigint, layout snowid_layout, moved_to text) → bigint
Datum snowid_release_shard(PG_FUNCTION_ARGS) {
  require_nextval("snowid.release_shard()");
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  const int64 shard = PG_GETARG_INT64(0);
  const char* moved_to = PG_ARGISNULL(2) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(2));
  PlaceDirectory* directory = directory_of(layout_spec_arg(fcinfo, 1));
  const core::Layout& layout = directory->layout;
  Slot* slot = place_of(directory, shard)->slot;
  Relation table = moved_lock(layout, shard);
  ceiling_hold();
  Moved row;
  const bool is_known = moved_find(table, layout, shard, &row);
  const core::Tick known = is_known ? tick_of_shard(layout, shard, row.id) : core::Tick{0};
  Moved released = {{}, is_known ? row.id : 0, false, moved_to, GetCurrentTimestamp()};
  if (is_known && !row.is_open && is_at_end(slot, layout) && !is_skipped(layout, known)) {
    // Closed already.
    if (moved_to == nullptr) released.moved_to = row.moved_to;
    released.moved_at = row.moved_at;
  } else {
    core::Tick free = pending_close(slot, layout);
    if (free == end_of(layout) && is_used_up(layout)) report_used_up(layout);
    if (is_known && row.is_open) free = std::max(free, {known.value + 1});
    released.id = id_of(layout, {static_cast<uint64>(shard)}, free).value;
  }
  moved_store(table, layout, shard, is_known ? &row : nullptr, released);
  table_close(table, NoLock);
  PG_RETURN_INT64(released.id);
}

// snowid.accept_shard(shard bigint, id bigint, layout snowid_layout) → void
Datum snowid_accept_shard(PG_FUNCTION_ARGS) {
  require_nextval("snowid.accept_shard()");
  const int64 shard = PG_GETARG_INT64(0);
  const int64 id = PG_GETARG_INT64(1);
  PlaceDirectory* directory = directory_of(layout_spec_arg(fcinfo, 2));
  const core::Layout& layout = directory->layout;
  const core::Tick tick = tick_of_shard(layout, shard, id);
  const core::UnixMicros moment = start_of(layout, time_of(layout, tick));
  wait_until_allowed("ID", moment);

  Slot* slot = place_of(directory, shard)->slot;
  Relation table = moved_lock(layout, shard);
  ceiling_hold();
  Moved row;
  const bool is_known = moved_find(table, layout, shard, &row);
  if (!is_known || !row.is_open || row.id != id) {
    require_above(layout, shard, id, tick, is_known ? &row : nullptr, slot);
    ceiling_cover(moment);
    // Without a row nothing is known of a slot that is closed but the ceiling.
    const bool is_unknown = !is_known && is_at_end(slot, layout);
    pending_open(slot, is_unknown ? std::max(tick, last_tick_by_ceiling(layout)) : tick);
    moved_store(table, layout, shard, is_known ? &row : nullptr,
                {{}, id, true, nullptr, GetCurrentTimestamp()});
  }
  table_close(table, NoLock);
  PG_RETURN_VOID();
}

// snowid.advance_shard(id bigint, layout snowid_layout) → void
Datum snowid_advance_shard(PG_FUNCTION_ARGS) {
  require_read_write("snowid.advance_shard()");
  PlaceDirectory* directory = directory_of(layout_spec_arg(fcinfo, 1));
  const core::Layout& layout = directory->layout;
  const core::Parts parts = parts_of(layout, PG_GETARG_INT64(0));

  // The ceiling is shared: an ID far ahead would stop every shard of the database at the next
  // start.
  const core::UnixMicros moment = start_of(layout, parts.time);
  require_ceiling();
  const int64 ahead_us = moment.value - lead_from_now(unix_now()).value;
  if (ahead_us > max_lead_us()) report_ahead("ID", ahead_us, 0);

  const Place* place = place_of(directory, static_cast<int64>(parts.shard.value));
  ceiling_cover(moment);
  raise_slot(layout, parts.shard, place->slot, make_tick(layout, parts.time, parts.sequence));
  PG_RETURN_VOID();
}

// snowid.advance_past(id bigint, layout snowid_layout) → void
Datum snowid_advance_past_id(PG_FUNCTION_ARGS) {
  require_nextval("snowid.advance_past()");
  const core::Layout& layout = layout_arg(fcinfo, 1);
  const core::UnixMicros moment = start_of(layout, parts_of(layout, PG_GETARG_INT64(0)).time);
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
