// Reading and resetting statistics. See id_statistics.hpp.
#include "pg/stats/id_statistics.hpp"

#include "pg/clock.hpp"

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
      shards[count] = {
          slot->key, {slot->last_tick.load(std::memory_order_acquire)}, issued_by(slot)};
    }
    count++;
  }
  dshash_seq_term(&scan);
  return count;
}

}  // namespace

ShardStatisticsList read_shard_statistics() {
  slots_attach();
  counts_flush();
  // Memory is not allocated while a partition is locked, so that they are counted first. Those that
  // are made after that are shown next time, but for a few.
  constexpr uint64 kSpare = 64;
  const uint64 room = copy_slots(nullptr, 0) + kSpare;
  auto* shards = static_cast<ShardStatistics*>(
      MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(ShardStatistics)));
  return {shards, std::min(copy_slots(shards, room), room)};
}

bool has_last_id(const ShardStatistics& shard, const core::Layout& layout) noexcept {
  return shard.issued > 0 && (shard.last != end_of(layout) || is_used_up(layout));
}

DatabaseStatistics read_database_statistics() {
  slots_attach();
  const EventCounts& events = shared_database->events;
  return {shared_database->raises.raises.load(std::memory_order_relaxed),
          shared_database->raises.flushes.load(std::memory_order_relaxed),
          shared_database->raises.flushes_us.load(std::memory_order_relaxed),
          events.waits.load(std::memory_order_relaxed),
          events.waits_us.load(std::memory_order_relaxed),
          events.refusals.load(std::memory_order_relaxed),
          events.clock_steps_back.load(std::memory_order_relaxed),
          events.max_lead_us.load(std::memory_order_relaxed),
          {shared_database->reset_us.load(std::memory_order_relaxed)}};
}

void reset_id_statistics() {
  slots_attach();
  // What this session has counted so far is of before.
  counts_flush();
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  while (auto* slot = static_cast<Slot*>(dshash_seq_next(&scan)))
    if (slot->key.database == MyDatabaseId) forget_issued(slot);
  dshash_seq_term(&scan);
  EventCounts& events = shared_database->events;
  events.waits.store(0, std::memory_order_relaxed);
  events.waits_us.store(0, std::memory_order_relaxed);
  events.refusals.store(0, std::memory_order_relaxed);
  events.clock_steps_back.store(0, std::memory_order_relaxed);
  events.max_lead_us.store(0, std::memory_order_relaxed);
  shared_database->raises.raises.store(0, std::memory_order_relaxed);
  shared_database->raises.flushes.store(0, std::memory_order_relaxed);
  shared_database->raises.flushes_us.store(0, std::memory_order_relaxed);
  shared_database->reset_us.store(unix_now().value, std::memory_order_relaxed);
}

}  // namespace snowid::pg
