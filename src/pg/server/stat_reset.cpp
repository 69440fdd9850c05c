// Calling the functions that reset statistics. See stat_reset.hpp.
#include "pg/server/stat_reset.hpp"

namespace snowid::pg {

namespace {

constexpr int kMost = 4;
void (*resets[kMost])();
int count = 0;

}  // namespace

void stat_reset_subscribe(void (*reset)()) {
  if (count == kMost) elog(ERROR, "too many reset statistics");
  resets[count++] = reset;
}

void stat_reset() {
  for (int i = 0; i < count; i++) resets[i]();
}

}  // namespace snowid::pg
