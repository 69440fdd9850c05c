// The warning that a layout's time is almost used up: once a day for all sessions of the server.
//
// Shared: one entry of the table "warnings", of atomics. Nothing is ever removed from it.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// From here on it is logged that the layout's time is almost used up.
constexpr core::UnixMicros warn_from(const core::Layout& layout) {
  constexpr int64 kYearUs = int64{365} * SECS_PER_DAY * USECS_PER_SEC;
  return {layout.end.value - kYearUs};
}

// Attaches to the table, and makes it if there is none. The first session to issue IDs does so, so
// that none is refused later for want of memory to warn with. Later calls cost next to nothing.
// Fails as table_attach() does.
void warnings_attach();

// Logs it, unless that was done within a day. (Where more than 64 layouts are about to end some
// share a slot of the table, and only one of them is logged.) Fails as warnings_attach() does.
void warn_daily(const core::Layout& layout, core::UnixMicros now);

}  // namespace snowid::pg
