// The settings of counters. Each belongs to one process; nothing is shared.
#pragma once

#include "pg/prelude.hpp"

// The default of snowid.section_keys.
#ifndef SNOWID_SECTION_KEYS
#define SNOWID_SECTION_KEYS 100000
#endif

namespace snowid::pg {

extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 1,000,000

inline constexpr int kDefaultSectionKeys = SNOWID_SECTION_KEYS;

// Defines them. Called once, when the library is loaded.
void counter_settings_register();

}  // namespace snowid::pg
