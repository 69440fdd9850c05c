// The ceiling: the one durable thing behind all IDs of a database. It is a time, kept as last_value
// of the sequence snowid.ceiling, and no ID is issued with a time above it. Whatever happens to the
// server, every time up to the ceiling counts as used when it starts again. The idea is max_seq of
// WeChat's seqsvr.
//
// Shared: Database::lock serializes raising it. A session takes first the relation's lock, which it
// may have to wait for, then Database::lock, then the buffer's.
#pragma once

#include "pg/prelude.hpp"
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

// Whether the sequence that this session knows is the one that the shared state names. Goes to
// false by relcache invalidation when the sequence may be another one, and stays so in a
// transaction that has made the sequence.
extern bool ceiling_known;

// Makes `ceiling_known` true: attaches to the shared state, and sees to it that the ceiling in
// memory is durable in this database's sequence, and that no ID is issued below what the sequence
// says, if that is more than was written to it. Fails with 55000 where the sequence is missing or
// not fit for it, with 25006 during recovery, and as slots_attach() does.
void ceiling_learn();

// Sees to it that IDs may be issued with times up to snowid.ceiling_step after `moment`, unless
// somebody else has. With kEarly it may leave that to somebody else, where it would have to wait
// for a lock.
void ceiling_raise(core::UnixMicros moment, Urgency urgency);

// Sees to it that `moment` is durably below the ceiling.
void ceiling_cover(core::UnixMicros moment);

}  // namespace snowid::pg
