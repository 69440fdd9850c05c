// Learning the ceiling: which sequence it is durable in, whether that holds what this server has
// written to it, and whether this session uses the shared ceiling or a stand-in.
//
// Shared: see held.hpp for what is locked in which order.
#pragma once

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// Whether the sequence that this session knows is the one that the shared state names. A relcache
// invalidation sets it to false when the sequence may be another one; in a transaction that has
// made the sequence it stays false.
extern bool ceiling_known;

// Raises 25006 during recovery, and 25000 in a parallel worker.
void require_can_issue();

// Attaches to the shared state, and makes sure that the ceiling in memory is durable in this
// database's sequence. Where the sequence holds more than this server has written to it, all slots
// are lifted to that time. Then `ceiling_known` is true, save in a transaction that has made the
// sequence. Fails with 55000 where the sequence is missing, or not a permanent sequence, or this
// transaction has given it other storage, or has dropped the one of before; with 25006 during
// recovery, with 25000 in a parallel worker, and as table_attach() does. A cancelled wait for a
// standby is an error too.
void ceiling_learn();

// Stores the ceiling in the sequence that the extension has now, in place of the one that this
// server has used, which this transaction may have dropped. Otherwise it fails as ceiling_learn()
// does.
void ceiling_carry_over();

// Reads the pages; on a standby, as far as it has replayed the primary's WAL. Fails with 55000
// where the sequence is missing, or not a permanent sequence.
CeilingOnPages ceiling_read();

// Called by module.cpp: the sequence may be another one, or have other storage.
void on_relcache_ceiling(Oid relid);

}  // namespace snowid::pg
