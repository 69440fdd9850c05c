// Raising the ceiling, and what else changes it. slots_attach(), or what else places the ceiling of
// CeilingUsers, and ceiling_learn() must have been called for each of these.
//
// Shared: see held.hpp for what is locked in which order.
#pragma once

#include "pg/ceiling/settings.hpp"
#include "pg/ceiling/state.hpp"
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

// Where the next ID asks again while the ceiling is being raised for one with the time `moment`.
inline int64 next_alert_us(core::UnixMicros moment) {
  return moment.value + ceiling_step_us() / 8 + 1;
}

// Raises the ceiling to what an ID wishes, unless it is high enough. With kMust the ceiling is at
// or above `moment`, the ID's time, when it returns. With kEarly, where the ceiling is that high
// already, it does nothing where it would have to wait for the relation's lock, and waits for disk
// and standby only where the sequence was replaced: it writes ahead, and whoever asks next
// publishes what has become durable meanwhile. Fails as ceiling_learn() does.
void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency);

// Makes sure that the ceiling is durably at or above `moment`. Fails as ceiling_learn() does.
void ceiling_cover(core::UnixMicros moment);

// Has no slot of this database issue an ID with a time up to `moment` any more, durably, whatever
// becomes of the transaction. Fails as ceiling_learn() does.
void ceiling_lift(core::UnixMicros moment);

// Stores a ceiling, which may be a lower one, and the wild times, whatever becomes of the
// transaction. Returns the end of the WAL record, for sequence_make_durable(). It need not be
// durable before IDs are issued: without it the ceiling is the one of before, which is no lower, or
// not above what was durable then. The caller has the database alone, and has no stand-in. Fails as
// ceiling_learn() does.
XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::WildTimes& wild);

// Until the end of this transaction no other one can have a stand-in (state.hpp). Fails as
// ceiling_learn() does.
void ceiling_hold();

}  // namespace snowid::pg
