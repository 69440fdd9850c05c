// The settings of IDs. Each belongs to one process. Shared: Database::number, read.
#pragma once

#include "pg/database/database.hpp"
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
// nodes/node_number.cpp. Raises 55000 if there is none, or if a node of Citus has a shard set.
int64 shard_of_setting();

// Makes the next call of shard_by_default() resolve the shard anew. Never fails, and reads no
// catalog.
void default_shard_forget();

extern int max_lead_ms;  // snowid.max_lead: 0 to INT_MAX
extern int max_wait_ms;  // snowid.max_wait: 0 to INT_MAX
inline constexpr int kDefaultMaxWaitMs = 5000;

// Defines the settings of IDs. Called once, when the library is loaded.
void id_settings_register();

// 22023: snowid.shard was given a value that is no shard.
[[noreturn]] void report_refused_shard();

// What shard_by_default() does where the shard is not resolved. Fails as report_refused_shard() and
// the hook do.
int64 shard_resolve();

// The shard of functions that are given none. Fails as shard_resolve() does.
inline int64 shard_by_default() {
  const int64 shard = default_shard;
  const bool is_current = changes_of(number_word->load(std::memory_order_relaxed)) == changes_seen;
  return likely(shard >= 0 && is_current) ? shard : shard_resolve();
}

inline int64 max_lead_us() { return int64{max_lead_ms} * 1000; }
inline int64 max_wait_us() noexcept { return int64{max_wait_ms} * 1000; }

}  // namespace snowid::pg
