// What the room registers. See counters.hpp.
#include "pg/counters/counters.hpp"

#include "pg/counters/settings.hpp"

namespace snowid::pg {

void counters_register() { counter_settings_register(); }

}  // namespace snowid::pg
