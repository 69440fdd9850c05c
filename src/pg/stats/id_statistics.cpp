// Reading and resetting statistics. See id_statistics.hpp.
#include "pg/stats/id_statistics.hpp"

#include "pg/base/clock.hpp"

namespace snowid::pg {

namespace {

// Stores as many slots of this database as there is room for, and returns how many there are.
uint64 copy_slots(ShardStatistics* shards, uint64 room) {
  uint64 count = 0;
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  while (const auto* slot = static_cast<Slot*>(dshash_seq_next(&scan))) {
    if (slot->key.database != MyDatabaseId) continue;
    if (count < room) {
      shards[count] = {};
      shards[count].key = slot->key;
      shards[count].last = {slot->last_tick.load(std::memory_order_acquire)};
      shards[count].issued = IssuedBy(slot);
    }
    count++;
  }
  dshash_seq_term(&scan);
  return count;
}

void read_events(ShardStatistics* shard) {
  auto* events = static_cast<ShardEvents*>(table_find(shard_events, &shard->key, false));
  if (events == nullptr) return;
  shard->waits = events->waits.load(std::memory_order_relaxed);
  shard->waits_us = events->waits_us.load(std::memory_order_relaxed);
  shard->refusals = events->refusals.load(std::memory_order_relaxed);
  shard->clock_steps_back = events->clock_steps_back.load(std::memory_order_relaxed);
  shard->max_lead_us = events->max_lead_us.load(std::memory_order_relaxed);
  table_release(shard_events, events);
}

void reset_events() {
  if (!table_attach_if_there(&shard_events)) return;
  dshash_seq_status scan;
  dshash_seq_init(&scan, shard_events.attached, false);
  while (auto* events = static_cast<ShardEvents*>(dshash_seq_next(&scan))) {
    if (events->key.database != MyDatabaseId) continue;
    events->waits.store(0, std::memory_order_relaxed);
    events->waits_us.store(0, std::memory_order_relaxed);
    events->refusals.store(0, std::memory_order_relaxed);
    events->clock_steps_back.store(0, std::memory_order_relaxed);
    events->max_lead_us.store(0, std::memory_order_relaxed);
  }
  dshash_seq_term(&scan);
}

}  // namespace

ShardStatisticsList read_shard_statistics() {
  slots_attach();
  CountsFlush();
  // Memory is not allocated while a partition is locked, so that they are counted first. Those that
  // are made after that are shown next time, but for a few.
  constexpr uint64 kSpare = 64;
  const uint64 room = copy_slots(nullptr, 0) + kSpare;
  auto* shards = static_cast<ShardStatistics*>(
      MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(ShardStatistics)));
  const uint64 count = std::min(copy_slots(shards, room), room);
  if (table_attach_if_there(&shard_events))
    for (uint64 i = 0; i < count; i++) read_events(&shards[i]);
  return {shards, count};
}

bool HasLastId(const ShardStatistics& shard, const core::Layout& layout) {
  return shard.issued > 0 && (shard.last != EndOf(layout) || IsUsedUp(layout));
}

DatabaseStatistics read_database_statistics() {
  slots_attach();
  return {raise_counts->raises.load(std::memory_order_relaxed),
          raise_counts->flushes.load(std::memory_order_relaxed),
          raise_counts->flushes_us.load(std::memory_order_relaxed),
          {shared_database->reset_us.load(std::memory_order_relaxed)}};
}

void reset_id_statistics() {
  slots_attach();
  // What this session has counted so far is of before.
  CountsFlush();
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  while (auto* slot = static_cast<Slot*>(dshash_seq_next(&scan)))
    if (slot->key.database == MyDatabaseId) ForgetIssued(slot);
  dshash_seq_term(&scan);
  reset_events();
  raise_counts->raises.store(0, std::memory_order_relaxed);
  raise_counts->flushes.store(0, std::memory_order_relaxed);
  raise_counts->flushes_us.store(0, std::memory_order_relaxed);
  shared_database->reset_us.store(unix_now().value, std::memory_order_relaxed);
}

}  // namespace snowid::pg
