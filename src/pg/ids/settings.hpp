// The settings of IDs, each of which belongs to one process, and the bounds of their memory; and
// the shard of functions that are given none.
//
// Shared: Database::number, read.
#pragma once

#include "pg/database/shard_state.hpp"
#include "pg/debug.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// The shard of functions that are given none, as far as this session knows it: 0 or more, or
// kUnresolvedShard. Whether a layout can hold it is checked when it is used.
extern int64 default_shard;
inline constexpr int64 kUnresolvedShard = -1;

// How often the node's own number had changed when it was resolved.
extern uint64 changes_seen;

// snowid.shard: 0 or more, or one of the next two.
extern int64 shard_setting;
inline constexpr int64 kOwnNumber = -1;     // this node's own number is wanted
inline constexpr int64 kRefusedShard = -2;  // the value is no shard

// The shard that the setting stands for; used until default_shard_forget(). Defined in
// nodes/node_number.cpp. Raises: 55000 if there is none, or if a node of Citus has a shard set;
// 22023 if the setting is no shard.
int64 shard_of_setting();

// Makes the next call of shard_by_default() resolve the shard anew. Never fails, and reads no
// catalog.
void default_shard_forget();

extern int max_lead_ms;  // snowid.max_lead: 0 to INT_MAX
extern int max_wait_ms;  // snowid.max_wait: 0 to INT_MAX
inline constexpr int kDefaultMaxWaitMs = 5000;

// How much memory slots may take (shmem/bounds.hpp says what happens beyond that). All shards of
// the default layout have room in each database: 8,192 slots of 80 bytes. These are slots of other
// layouts, of a server and of a database.
SNOWID_BOUND(max_shards, 1000000);
SNOWID_BOUND(max_shards_of_database, 250000);
// How many slots of the default layout are made before dropped databases are looked for again.
SNOWID_BOUND(shards_between_sweeps, 10000);
// The most slots that one sweep removes, which bounds its memory. The next one can come soon.
SNOWID_BOUND(most_idle_shards, 1 << 16);

// Defines the settings of IDs. Called once, when the library is loaded.
void id_settings_register();

// 22023: snowid.shard was given a value that is no shard.
[[noreturn]] void report_refused_shard();

// The shard of functions that are given none: shard_resolve() if it is not known.
// Raises: as shard_of_setting().
int64 shard_resolve();
inline int64 shard_by_default() {
  const int64 shard = default_shard;
  const bool is_current = changes_of(number_word->load(std::memory_order_relaxed)) == changes_seen;
  return likely(shard >= 0 && is_current) ? shard : shard_resolve();
}

inline int64 max_lead_us() { return int64{max_lead_ms} * 1000; }
inline int64 max_wait_us() noexcept { return int64{max_wait_ms} * 1000; }

}  // namespace snowid::pg
