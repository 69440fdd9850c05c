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

// snowid.shard as it was given.
struct ShardSetting {
  int64 shard;       // 0 or more, or one of the next two
  GucSource source;  // where from, if MayBeShared(); else PGC_S_DEFAULT
};
inline constexpr int64 kOwnNumber = -1;     // this node's own number is wanted
inline constexpr int64 kRefusedShard = -2;  // the value is no shard
extern ShardSetting shard_setting;

// Whether a setting comes from ALTER DATABASE or ALTER ROLE, of whatever form: from a catalog,
// which a cluster of servers may copy to all of its nodes.
inline bool IsStored(GucSource source) {
  return source >= PGC_S_GLOBAL && source <= PGC_S_DATABASE_USER;
}

// Whether other servers of a cluster may have the same setting: also from SET, SET LOCAL, or a
// function's SET clause, which a cluster may carry along with a statement.
inline bool MayBeShared(GucSource source) { return IsStored(source) || source == PGC_S_SESSION; }

// The shard where the setting is kOwnNumber or MayBeShared(); used until default_shard_forget().
// Defined in nodes/node_number.cpp. Raises 55000 if there is none.
int64 shard_of_setting(const ShardSetting& setting);

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
  const bool is_current = ChangesOf(number_word->load(std::memory_order_relaxed)) == changes_seen;
  return likely(shard >= 0 && is_current) ? shard : shard_resolve();
}

inline int64 max_lead_us() { return int64{max_lead_ms} * 1000; }
inline int64 max_wait_us() { return int64{max_wait_ms} * 1000; }

}  // namespace snowid::pg
