// Resetting the server's ObjectIDs when a clock that was ahead is corrected.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

// Before and after the slots that all databases share are set back: ticks may come again then, so
// ObjectIDs get another random number. They get one for the time between, too: until the slots are
// set back, a session of another database may still take a tick that will come again.
// Raises: 55000 if a library with another ABI number has made the table; class 53 without memory;
// XX000 if the source of random bytes gives none.
void objectid_begin_setting_back();
void objectid_end_setting_back() noexcept;

}  // namespace snowid::pg
