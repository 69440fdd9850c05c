#include "pg/counters/settings.hpp"

namespace snowid::pg {

bool segment_adapt = true;
int section_keys = kDefaultSectionKeys;

void counter_settings_register() {
  DefineCustomBoolVariable(
      "snowid.segment_adapt",
      "Whether more numbers at a time are made durable while they are used up quickly.",
      "Up to 1,000,000. Of a segment twice as many blocks when the last ones were used up in under "
      "15 minutes; half as many when they lasted for over 30 minutes. Of a section twice as many "
      "increments when the last ones were used up in under a tenth of a second; half as many when "
      "they lasted for over a second.",
      &segment_adapt, true, PGC_USERSET, 0, nullptr, nullptr, nullptr);
  // A section that grows copies its keys with its lock held, while sessions that draw from it wait
  // and cannot be cancelled: with a million keys that is short enough.
  DefineCustomIntVariable(
      "snowid.section_keys", "How many keys of a section are kept in memory.",
      "Past that keys leave that were not used since half as many others were. A key that comes "
      "back goes on above every number that was given to one that left.",
      &section_keys, kDefaultSectionKeys, 1, 1000000, PGC_SIGHUP, 0, nullptr, nullptr, nullptr);
  bound_register("snowid.debug_max_counters", &max_counters);
  bound_register("snowid.debug_max_counters_of_database", &max_counters_of_database);
  bound_register("snowid.debug_least_section_keys", &least_section_keys);
}

}  // namespace snowid::pg
