// Raising the ceiling, and other changes of it. Call ceiling_learn() before any of these functions.
//
// Shared: see held.hpp for what is locked in which order.
#pragma once

#include "pg/ceiling/settings.hpp"
#include "pg/ceiling/state.hpp"
#include "pg/sequence_page.hpp"

namespace snowid::pg {

// The alert while a session raises the ceiling for an ID with the time `moment`: a little further
// on, so that the others do not raise it at the same time.
inline int64 next_alert_us(core::UnixMicros moment) {
  return moment.value + ceiling_step_us() / 8 + 1;
}

// Raises the ceiling as `wish` says, unless it is high enough. With kMust the ceiling is at or
// above `moment`, the ID's time, when it returns. With kEarly, where the ceiling is that high
// already, it does nothing where it would have to wait for the relation's lock, and waits for disk
// and standby only where the sequence was replaced: it writes ahead, and the next session to raise
// the ceiling publishes what has become durable meanwhile. Fails as ceiling_learn() does.
void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency);

// Makes sure that the ceiling is durably at or above `moment`. Fails as ceiling_learn() does.
void ceiling_cover(core::UnixMicros moment);

// Lifts all slots of this database above `moment`, durably, so that none issues an ID with a time
// up to it any more. That stays if the transaction rolls back. Fails as ceiling_learn() does.
void ceiling_lift(core::UnixMicros moment);

// Stores a ceiling, which may be lower than the present one, and the wild times. Like setval, that
// stays if the transaction rolls back. Returns the end of the WAL record, for
// sequence_make_durable(). It need not be durable before IDs are issued: if it is lost in a crash
// the previous ceiling counts, which is no lower, or was not above what was durable then. No other
// session is connected to the database, and this one has no stand-in. Fails as ceiling_learn()
// does.
XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::WildTimes& wild);

// Keeps other transactions from having a stand-in (state.hpp) until the end of this one. Fails as
// ceiling_learn() does.
void ceiling_hold();

}  // namespace snowid::pg
