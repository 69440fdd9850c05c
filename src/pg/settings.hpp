// The settings of snowid, as _PG_init registers them. Each belongs to one process; nothing is
// shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

extern int default_shard;  // snowid.shard: 0 to INT_MAX; what a layout can hold is checked in use
extern int max_lead_ms;    // snowid.max_lead: 0 to INT_MAX
extern int max_wait_ms;    // snowid.max_wait: 0 to INT_MAX
// snowid.ceiling_step: 10 to 5000, the default of max_wait, so that nobody is refused for a
// restart.
extern int ceiling_step_ms;
extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 100,000,000

inline constexpr int kDefaultSectionKeys = 100000;

void settings_register();

inline int64 max_lead_us() { return int64{max_lead_ms} * 1000; }
inline int64 max_wait_us() { return int64{max_wait_ms} * 1000; }
inline int64 ceiling_step_us() { return int64{ceiling_step_ms} * 1000; }

}  // namespace snowid::pg
