// What the room registers. See counters.hpp.
#include "pg/counters/counters.hpp"

#include "pg/counters/settings.hpp"
#include "pg/counters/stats.hpp"
#include "pg/server/stat_reset.hpp"

namespace snowid::pg {

void counters_register() {
  counter_settings_register();
  stat_reset_subscribe(counters_reset_counts);
}

}  // namespace snowid::pg
