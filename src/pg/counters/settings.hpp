// The settings of counters, each of which belongs to one process; and how much memory segments and
// sections may take (shmem/bounds.hpp says what happens beyond that). Nothing is shared.
#pragma once

#include "pg/debug.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

extern bool segment_adapt;  // snowid.segment_adapt
extern int section_keys;    // snowid.section_keys: 1 to 1,000,000

inline constexpr int kDefaultSectionKeys = 100000;

// Defines them. Called once, when the library is loaded.
void counter_settings_register();

// The most segments and sections of a server, at 320 bytes a segment and 1,280 a section. Keys of
// sections have bounds of their own, see keys.hpp.
SNOWID_BOUND(max_counters, 100000);
SNOWID_BOUND(max_counters_of_database, 25000);
// A section's keys are counted as this many where snowid.section_keys is less: its default.
SNOWID_BOUND(least_section_keys, kDefaultSectionKeys);

}  // namespace snowid::pg
