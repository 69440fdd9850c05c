// The SQL functions by which shards move to another server.
//
// Shared: the table of released shards and their slots, under released_lock(); the ceiling. Its
// lock is taken after that of the table (docs/design.md, "The SQL interface"). The wait for the
// clock comes before the locks, unless a row has a later time than the caller's ID.
#include "pg/moves/moves.hpp"

#include "pg/base/errors.hpp"
#include "pg/base/layouts.hpp"
#include "pg/compat.hpp"
#include "pg/moves/pending.hpp"
#include "pg/moves/released.hpp"

namespace snowid::pg {

namespace {

core::Tick TickOf(const core::Layout& layout, const core::Parts& parts) {
  return MakeTick(layout, parts.time, parts.sequence);
}

// Closes the shard, and returns the first tick that it has not issued, nor ever will here.
core::Tick close_shard(const core::Layout& layout, Slot* slot) {
  const core::Tick last = pending_close(slot, layout);
  if (last == EndOf(layout)) report_used_up(layout);
  return {last.value + 1};
}

// Whether a wild time (core/wild.hpp) has a part in the unit of the last tick before this one. The
// ceiling is known.
bool is_wild(const core::Layout& layout, core::Tick free) {
  const core::Tick last{std::max<uint64_t>(free.value, 1) - 1};
  return IsWildUnit(WildTimesNow(), layout, StartOf(layout, TimeOf(layout, last)));
}

// Opens a shard that was closed here, above `last`, when this transaction commits.
void open_at_commit(Slot* slot, core::Tick last) {
  core::Tick* opening = pending_opening_of(slot);
  if (opening == nullptr)
    pending_open(slot, last);
  else
    *opening = std::max(*opening, last);
}

}  // namespace

void moves_register() { released_register(); }

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_release_shard);
SNOWID_FUNCTION(snowid_accept_shard);

// snowid.release_shard(shard bigint, layout snowid_layout, moved_to text) → bigint
Datum snowid_release_shard(PG_FUNCTION_ARGS) {
  require_nextval("snowid.release_shard()");
  if (PG_ARGISNULL(0) || PG_ARGISNULL(1)) PG_RETURN_NULL();
  const int64 shard = PG_GETARG_INT64(0);
  const char* moved_to = PG_ARGISNULL(2) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(2));
  PlaceDirectory* directory = directory_of(layout_spec_arg(fcinfo, 1));
  const core::Layout& layout = directory->layout;
  Slot* slot = place_of(directory, shard)->slot;
  Relation table = released_lock(layout, shard);
  ceiling_hold();
  Release release;
  if (released_find(table, layout, shard, &release)) {
    // There is a row and the slot is open: the row was stored with the triggers disabled.
    if (!IsAtEnd(slot, layout)) {
      released_delete(table, release);
    } else {
      if (moved_to != nullptr) released_update(table, release, moved_to);
      table_close(table, NoLock);
      PG_RETURN_INT64(release.id);
    }
  }
  const core::Tick free = close_shard(layout, slot);
  const int64 id = IdOf(layout, {static_cast<uint64>(shard)}, free).value;
  released_insert(table, layout, shard, id, moved_to);
  table_close(table, NoLock);
  PG_RETURN_INT64(id);
}

// snowid.accept_shard(shard bigint, id bigint, layout snowid_layout) → void
Datum snowid_accept_shard(PG_FUNCTION_ARGS) {
  require_nextval("snowid.accept_shard()");
  PlaceDirectory* directory = directory_of(layout_spec_arg(fcinfo, 2));
  const core::Layout& layout = directory->layout;
  const int64 shard = PG_GETARG_INT64(0);
  require_id_of_shard(layout, shard, PG_GETARG_INT64(1));
  const core::Parts parts = parts_of(layout, PG_GETARG_INT64(1));
  const core::UnixMicros moment = StartOf(layout, parts.time);
  core::Tick last = TickOf(layout, parts);
  if (!ceiling_known) ceiling_learn();
  // Whether the shard was released here under a wild clock is known once it is locked.
  if (!is_wild(layout, last)) wait_until_allowed("ID", moment);

  Slot* slot = place_of(directory, shard)->slot;
  Relation table = released_lock(layout, shard);
  ceiling_hold();
  const bool is_used_up = IsUsedUp(layout);
  Release release;
  const bool is_released = released_find(table, layout, shard, &release);
  core::Tick known = is_released ? TickOf(layout, parts_of(layout, release.id)) : core::Tick{0};
  // Released while the clock was ahead, and rewound since: what it had issued then is in a wild
  // time, which no ID gets again, and all else is below the ceiling. So it need not wait for that
  // time.
  const bool is_by_ceiling = is_released && is_wild(layout, known);
  if (is_by_ceiling) {
    if (last <= known && is_wild(layout, last)) last = {0};
    known = {0};
  }
  last = std::max(last, known);
  const core::UnixMicros latest = StartOf(layout, TimeOf(layout, last));
  wait_until_allowed("ID", latest);
  ceiling_cover(latest);
  if (is_by_ceiling) last = std::max(last, LastTickByCeiling(layout));
  if (is_released) {
    released_delete(table, release);
    open_at_commit(slot, last);
  } else if (pending_opening_of(slot) != nullptr) {
    open_at_commit(slot, last);
  } else if (IsAtEnd(slot, layout) && !is_used_up) {
    open_at_commit(slot, std::max(last, LastTickByCeiling(layout)));
  } else {
    RaiseTo(slot->last_tick, last);
  }
  table_close(table, NoLock);
  PG_RETURN_VOID();
}
}
