// Reading the statistics of IDs, as copies of the counts in slots and in the database's entry; and
// resetting them.
//
// Shared: slots, read with their partitions locked, and Database. Each count is read by itself:
// what comes meanwhile may be in one and not yet in another.
#pragma once

#include "pg/database/shard_state.hpp"
#include "pg/ids/ids.hpp"

namespace snowid::pg {

// A slot of this database.
struct ShardStatistics {
  SlotKey key;
  core::Tick last;  // see Slot
  uint64 issued;
};

struct ShardStatisticsList {
  ShardStatistics* shards;  // in the current memory context
  uint64 count;
};

// All slots of this database, with what this session has counted so far. Fails as slots_attach()
// does.
ShardStatisticsList read_shard_statistics();

// Whether the slot's last tick was an ID: it has issued one since its counts began, and is not
// closed.
bool has_last_id(const ShardStatistics& shard, const core::Layout& layout) noexcept;

struct DatabaseStatistics {
  uint64 raises;
  uint64 flushes;
  int64 flushes_us;
  uint64 waits;
  int64 waits_us;
  uint64 refusals;
  uint64 clock_steps_back;
  int64 max_lead_us;
  core::UnixMicros reset;  // 0 where never
};

// Fails as slots_attach() does.
DatabaseStatistics read_database_statistics();

// All counts of this database begin anew. Fails as slots_attach() does.
void reset_id_statistics();

}  // namespace snowid::pg
