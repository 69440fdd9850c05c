// What happens at the end of transactions, of subtransactions and of the process: one callback of
// each kind for all of snowid, and the order in which it calls what rooms have subscribed,
// independent of what a session uses first. (PostgreSQL has room for twenty callbacks at the exit
// of a process, of all libraries together.) Belongs to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The order of the subscribers.
enum class AtEndOrder : uint8_t {
  kDurableCommit,  // first, since it may refuse to have the transaction prepared
  kCounters,       // pages are unpinned, the right to refill is given back, sequences are let go of
  kMoves,          // slots of shards that were moved follow the transaction
  kIssued,         // the IDs that the session has counted are added to the slots
  kNumber,         // a change of the node's number is counted in shared memory
  kOwnNumber,      // this session forgets a number that held for the transaction
  kPlaces,         // slots are let go of
  kDatabase,       // last, since a sweep goes by it: the database's entry is let go of
};
inline constexpr int kAtEndCount = static_cast<int>(AtEndOrder::kDatabase) + 1;

// What is called, nullptr for nothing. None may fail, except for the events XACT_EVENT_PRE_…. When
// `process` is called, at the exit of the process, a transaction may still be open: it ends after
// that.
struct AtEnd {
  void (*transaction)(XactEvent event);
  void (*subtransaction)(SubXactEvent event, SubTransactionId part, SubTransactionId parent);
  void (*process)();
};

// From now on the functions of `what` are called. Later calls cost next to nothing. Fails with
// 53200 where there is no memory; not to be called when the library is loaded, which may be in the
// postmaster.
void at_end_subscribe(AtEndOrder order, const AtEnd& what);

}  // namespace snowid::pg
