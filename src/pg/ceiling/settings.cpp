// The setting of the ceiling. See settings.hpp.
#include "pg/ceiling/settings.hpp"

namespace snowid::pg {

int ceiling_step_ms = 1000;

void ceiling_settings_register() {
  DefineCustomIntVariable(
      "snowid.ceiling_step", "How far ahead the time that IDs may carry is made durable.",
      "Where IDs come seldom it is 2.4 times as far, or five seconds. After a start of the server "
      "IDs go on above that time, so the first caller may have to wait for as long.",
      &ceiling_step_ms, 1000, 10, 5000, PGC_SIGHUP, GUC_UNIT_MS, nullptr, nullptr, nullptr);
}

}  // namespace snowid::pg
