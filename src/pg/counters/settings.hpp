// The settings of counters. Each belongs to one process; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 1,000,000

inline constexpr int kDefaultSectionKeys = 100000;

// Defines them. Called once, when the library is loaded.
void counter_settings_register();

}  // namespace snowid::pg
