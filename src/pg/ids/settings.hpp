// The settings of IDs. Each belongs to one process; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The shard that snowid.shard means: 0 or more, or kRefusedShard where its value is no shard.
// Whether a layout can hold it is checked when it is used.
extern int64 default_shard;
inline constexpr int64 kRefusedShard = -2;
extern int max_lead_ms;  // snowid.max_lead: 0 to INT_MAX
extern int max_wait_ms;  // snowid.max_wait: 0 to INT_MAX
// snowid.ceiling_step: 10 to 5000. After a restart callers may have to wait for as long, so it is
// no more than the default of snowid.max_wait. See also core/ceiling.hpp.
extern int ceiling_step_ms;

// Defines the settings of IDs. Called once, when the library is loaded.
void id_settings_register();

// 22023: snowid.shard was given a value that is no shard.
[[noreturn]] void report_refused_shard();

// The shard of functions that are given none. Fails as report_refused_shard() does.
inline int64 shard_by_default() {
  if (unlikely(default_shard < 0)) report_refused_shard();
  return default_shard;
}

inline int64 max_lead_us() { return int64{max_lead_ms} * 1000; }
inline int64 max_wait_us() { return int64{max_wait_ms} * 1000; }
inline int64 ceiling_step_us() { return int64{ceiling_step_ms} * 1000; }

}  // namespace snowid::pg
