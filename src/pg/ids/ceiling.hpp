// The ceiling: the one durable thing behind all IDs of a database. It is a time, kept as last_value
// of the sequence snowid.ceiling, and no ID is issued with a time above it. Whatever happens to the
// server, every time up to the ceiling counts as used when it starts again. The idea is max_seq of
// WeChat's seqsvr.
//
// Shared: Database::lock serializes raising it. A session takes first the relation's lock, which it
// may have to wait for, then Database::lock, then the buffer's.
#pragma once

#include "pg/ids/ceiling_page.hpp"
#include "pg/ids/settings.hpp"
#include "pg/prelude.hpp"
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

// Whether the sequence that this session knows is the one that the shared state names. Goes to
// false by relcache invalidation when the sequence may be another one, and stays so in a
// transaction that has made the sequence.
extern bool ceiling_known;

// Attaches to the shared state, and makes sure that the ceiling in memory is durable in this
// database's sequence. Where the sequence says more than this server has written to it, no more IDs
// are issued up to that time. Then `ceiling_known` is true, save in a transaction that has made the
// sequence. Fails with 55000 where the sequence is missing, or not a permanent sequence, with 25006
// during recovery, and as slots_attach() does. A cancelled wait for a standby is an error too.
void ceiling_learn();

// Has the sequence that the extension has now hold the ceiling, whichever other one this server
// knows. Fails as ceiling_learn() does.
void ceiling_carry_over();

// Where the next ID asks again while the ceiling is being raised for one with the time `moment`.
inline int64 next_alert_us(core::UnixMicros moment) {
  return moment.value + ceiling_step_us() / 8 + 1;
}

// Raises the ceiling to what an ID wishes, unless it is high enough. With kMust the ceiling is at
// or above `moment`, the ID's time, when it returns. With kEarly, where the ceiling is that high
// already, it does nothing where it would have to wait for the relation's lock, and waits for disk
// and standby only where the sequence was replaced: it writes ahead, and whoever asks next
// publishes what has become durable meanwhile. slots_attach() must have been called. Fails as
// ceiling_learn() does.
void ceiling_raise(core::UnixMicros moment, core::CeilingWish wish, Urgency urgency);

// Makes sure that the ceiling is durably at or above `moment`. slots_attach() must have been
// called. Fails as ceiling_learn() does.
void ceiling_cover(core::UnixMicros moment);

// Has no slot of this database issue an ID with a time up to `moment` any more, durably, whatever
// becomes of the transaction. slots_attach() must have been called. Fails as ceiling_learn() does.
void ceiling_lift(core::UnixMicros moment);

// Stores a ceiling, which may be a lower one, and the wild times, whatever becomes of the
// transaction. Returns the end of the WAL record, for sequence_make_durable(). It need not be
// durable before IDs are issued: without it the ceiling is the one of before, which is no lower, or
// not above what was durable then. The caller has the database alone, has learned the ceiling,
// and has no stand-in. Fails as ceiling_learn() does.
XLogRecPtr ceiling_set_back(core::UnixMicros moment, const core::WildTimes& wild);

// Until the end of this transaction no other one can have a stand-in (database.hpp). slots_attach()
// must have been called. Fails as ceiling_learn() does.
void ceiling_hold();

// What the pages say, on a standby as far as it has replayed the primary's WAL. Fails with 55000
// where the sequence is missing, or not a permanent sequence.
CeilingKept ceiling_read();

}  // namespace snowid::pg
