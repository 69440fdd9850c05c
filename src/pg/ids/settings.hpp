// The settings of IDs. Each belongs to one process; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// What snowid.shard comes to: 0 or more, what a layout can hold is checked in use; or kRefusedShard
// where the setting was given a value that is none.
extern int64 default_shard;
inline constexpr int64 kRefusedShard = -2;
extern int max_lead_ms;  // snowid.max_lead: 0 to INT_MAX
extern int max_wait_ms;  // snowid.max_wait: 0 to INT_MAX
// snowid.ceiling_step: 10 to 5000, the default of max_wait, so that nobody is refused for a
// restart.
extern int ceiling_step_ms;

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
