// Resetting the server's ObjectIDs when a fast clock is corrected.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

// Called before and after the slots shared by all databases are reset. Ticks may repeat then;
// therefore ObjectIDs get another random number, and one more for the time in between: until the
// reset other sessions may still use a tick that will repeat. Raises: 55000 if a library with
// another ABI number made the table; class 53 if memory is exhausted; XX000 if the source of random
// bytes fails.
void objectid_begin_setting_back();
void objectid_end_setting_back() noexcept;

}  // namespace snowid::pg
