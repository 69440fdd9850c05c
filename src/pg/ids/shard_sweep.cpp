// Removing slots that no session uses: those of other layouts than the default one, if a server or
// a database has as many as it may; and whatever dropped databases have left.
//
// A sweep may remove a slot that nobody uses, if its tick is at or behind the one that a new slot
// would start with. That start follows from the floor of the database, and from the times up to
// which it was swept. So a new slot issues only IDs above those of the old one, by these rules:
//
// - The times are stored before slots are looked at. They only grow, except that rewinding lowers
//   them, so they are read again for each slot.
// - A session that makes the slot anew reads the times after the removal, with the slot's partition
//   locked. So it reads these or higher ones.
// - No process has a pointer to the old slot, or the slot would have a user.
//
// Locks are taken in the order that database/shard_state.hpp gives.
//
// Only units of time that have ended count. If the unit is an hour, for example, a slot that was
// used in this hour stays: a new one could issue nothing until the next hour.
#include "pg/clock.hpp"
#include "pg/ids/moved_shards.hpp"
#include "pg/ids/settings.hpp"

namespace snowid::pg {

namespace {

// Slots of the default layout are only counted: each database has room for all.
Quota default_quota = make_quota(nullptr, nullptr, "usage of shards");
Quota other_quota = make_quota(
    "shards of layouts other than \"instagram\"",
    [] {
      return Bounds{static_cast<uint64>(max_shards), static_cast<uint64>(max_shards_of_database)};
    },
    "usage of other shards");

Quota& quota_of(const SlotKey& key) {
  return is_of_default_layout(key) ? default_quota : other_quota;
}

// A database during a sweep.
struct Swept {
  Oid oid;  // the key
  bool is_dropped;
  core::UnixMicros ceiling;
  SlotStart start;
};

// Stores, in the databases that count for the bound, up to when they are swept, and returns a table
// of Swept with all databases. That is up to a second ago, since a slot that was used since is
// worth keeping; but not beyond the ceiling, or a clock that was ahead for a moment would keep new
// slots from issuing anything.
HTAB* sweep_databases(Bound bound) {
  const int64 past_us = unix_now().value - USECS_PER_SEC;
  HASHCTL options{};
  options.keysize = sizeof(Oid);
  options.entrysize = sizeof(Swept);
  options.hcxt = CurrentMemoryContext;
  HTAB* found = hash_create("snowid sweep", 64, &options, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  dshash_seq_status scan;
  dshash_seq_init(&scan, databases.attached, false);
  while (auto* database = static_cast<Database*>(dshash_seq_next(&scan))) {
    if (is_within(bound, database->oid)) {
      raise_time(&database->swept_us, past_us);
      raise_time(&database->swept_ceiling_us,
                 database->ceiling.ceiling_us.load(std::memory_order_acquire));
    }
    auto* swept = static_cast<Swept*>(hash_search(found, &database->oid, HASH_ENTER, nullptr));
    swept->is_dropped = false;
    swept->ceiling = {database->ceiling.ceiling_us.load(std::memory_order_acquire)};
    swept->start = slot_start_of(database);
  }
  dshash_seq_term(&scan);
  return found;
}

// Whether the slot's tick allows removing it. That of a closed slot of a dropped database does: the
// floor is above all that it has issued, see last_used().
bool is_behind(const Slot* slot, const core::Layout& layout, const SlotStart& start,
               bool is_dropped) noexcept {
  const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
  return last <= start_tick_of(layout, start) || (is_dropped && last == end_of(layout));
}

// A time that no ID of a slot is above. A closed slot has lost its last tick, so there it is the
// ceiling.
core::UnixMicros last_used(const Slot* slot, const core::Layout& layout,
                           const Swept& swept) noexcept {
  const core::Tick last{slot->last_tick.load(std::memory_order_acquire)};
  const core::UnixMicros moment = start_of(layout, time_of(layout, last));
  return last == end_of(layout) ? std::min(moment, swept.ceiling) : moment;
}

// Finds the slots that may be removed: those that count for the bound, and those of dropped
// databases; at most most_idle_shards of them. Raises the floors of dropped databases to the last
// time that any of their slots has used: in `found` only, raise_floor_of() stores it.
uint32 find_idle(HTAB* found, Bound bound, SlotKey* idle) {
  uint32 count = 0;
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  core::Layout recent = core::kInstagram;
  while (const auto* slot = static_cast<Slot*>(dshash_seq_next(&scan))) {
    auto* swept = static_cast<Swept*>(hash_search(found, &slot->key.database, HASH_FIND, nullptr));
    if (swept == nullptr || is_in_use(slot)) continue;
    const core::Layout& layout = slot_layout(slot, &recent);
    if (swept->is_dropped) {
      // A slot at tick 0 has issued nothing, and its time may be an epoch that is yet to come.
      if (slot->last_tick.load(std::memory_order_acquire) > 0)
        swept->start.floor = std::max(swept->start.floor, last_used(slot, layout, *swept));
    } else if (!is_within(bound, slot->key.database) ||
               !is_behind(slot, layout, swept->start, swept->is_dropped)) {
      continue;
    }
    if (count < static_cast<uint32>(most_idle_shards)) idle[count++] = slot->key;
  }
  dshash_seq_term(&scan);
  return count;
}

// Raises the floor of a dropped database above all that its slots have issued, in case a new
// database gets its OID before the entry is removed.
void raise_floor_of(const Swept& swept) {
  auto* database = static_cast<Database*>(table_find(databases, &swept.oid, false));
  if (database == nullptr) return;
  raise_time(&database->ceiling.floor_us, swept.start.floor.value);
  table_release(databases, database);
}

// Reads where the slots of the database start again for each of them, since rewinding may have
// lowered it. Locked in this order: the database, as in remove_database(), its usage, slots.
void remove_if_idle(const SlotKey& idle, bool is_dropped) {
  auto* database = static_cast<Database*>(table_find(databases, &idle.database, false));
  if (database == nullptr) return;
  const Quota& quota = quota_of(idle);
  Usage* usage = usage_lock(quota, idle.database);
  auto* slot = static_cast<Slot*>(table_find(slots, &idle, true));
  if (slot != nullptr) {
    core::Layout recent = core::kInstagram;
    if (!is_in_use(slot) &&
        is_behind(slot, slot_layout(slot, &recent), slot_start_of(database), is_dropped)) {
      table_delete(slots, slot);
      count_gone(quota, usage);
    } else {
      table_release(slots, slot);
    }
  }
  usage_unlock(quota, usage);
  table_release(databases, database);
}

// Removes the entry of a database that was dropped, if it has no slots left.
void remove_database(Oid oid) {
  auto* database = static_cast<Database*>(table_find(databases, &oid, true));
  if (database == nullptr) return;
  // Only its users make slots of a database, so once it has none there are no more than are
  // counted.
  if (database->users.load(std::memory_order_acquire) == 0 &&
      count_of_database(default_quota, oid) == 0 && count_of_database(other_quota, oid) == 0)
    table_delete(databases, database);
  else
    table_release(databases, database);
}

// Removes slots that nobody uses and that count for the bound, and those of dropped databases.
void sweep_slots(Bound bound) {
  quota_attach(&default_quota);
  quota_attach(&other_quota);
  HTAB* found = sweep_databases(bound);
  bool has_dropped = false;
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, found);
  while (auto* swept = static_cast<Swept*>(hash_seq_search(&scan)))
    has_dropped |= swept->is_dropped =
        !SearchSysCacheExists1(DATABASEOID, ObjectIdGetDatum(swept->oid));
  if (bound == Bound::kNone && !has_dropped) return hash_destroy(found);

  auto* idle = static_cast<SlotKey*>(palloc(most_idle_shards * sizeof(SlotKey)));
  const uint32 count = find_idle(found, bound, idle);
  hash_seq_init(&scan, found);
  while (const auto* swept = static_cast<Swept*>(hash_seq_search(&scan)))
    if (swept->is_dropped) raise_floor_of(*swept);
  for (uint32 i = 0; i < count; i++) {
    const auto* swept =
        static_cast<Swept*>(hash_search(found, &idle[i].database, HASH_FIND, nullptr));
    remove_if_idle(idle[i], swept->is_dropped);
  }
  hash_seq_init(&scan, found);
  while (const auto* swept = static_cast<Swept*>(hash_seq_search(&scan)))
    if (swept->is_dropped) remove_database(swept->oid);
  hash_destroy(found);
  pfree(idle);
}

}  // namespace

uint64 count_of_slots() {
  quota_attach(&default_quota);
  quota_attach(&other_quota);
  return uint64{count_of_database(default_quota, MyDatabaseId)} +
         count_of_database(other_quota, MyDatabaseId);
}

Quota& slots_require_room(const SlotKey& key) {
  if (!is_of_default_layout(key)) quota_require_room(&other_quota, sweep_slots);
  quota_attach(&default_quota);
  if (has_grown(default_quota, static_cast<uint64>(shards_between_sweeps))) {
    sweep_slots(Bound::kNone);
    note_swept(default_quota);
  }
  return quota_of(key);
}

}  // namespace snowid::pg
