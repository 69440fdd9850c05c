// Learning the ceiling: which sequence it is durable in, whether that says what this server has
// written to it, and which ceiling this session goes by.
//
// Shared: see held.hpp for what is locked in which order.
#pragma once

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Whether the sequence that this session knows is the one that the shared state names. Goes to
// false by relcache invalidation when the sequence may be another one, and stays so in a
// transaction that has made the sequence.
extern bool ceiling_known;

// Attaches to the shared state, and makes sure that the ceiling in memory is durable in this
// database's sequence. Where the sequence says more than this server has written to it, no more IDs
// are issued up to that time. Then `ceiling_known` is true, save in a transaction that has made the
// sequence. Fails with 55000 where the sequence is missing, or not a permanent sequence, with 25006
// during recovery, and as CeilingUsers::attach() does. A cancelled wait for a standby is an error
// too.
void ceiling_learn();

// Has the sequence that the extension has now hold the ceiling, whichever other one this server
// knows. Fails as ceiling_learn() does.
void ceiling_carry_over();

// What the pages say, on a standby as far as it has replayed the primary's WAL. Fails with 55000
// where the sequence is missing, or not a permanent sequence.
CeilingOnPages ceiling_read();

}  // namespace snowid::pg
