// What happens at the end of transactions, of subtransactions and of the process: one callback of
// each kind for all of snowid, and the order in which it calls what rooms have subscribed, whatever
// was used first. (PostgreSQL has room for twenty callbacks at the exit of a process, of all
// libraries together.) Belongs to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Who comes in which order.
enum class AtEndOrder : uint8_t {
  kDurableCommit,  // first, since it may refuse to have the transaction prepared
  kCounters,       // pages are unpinned, the right to refill is given back, sequences are let go of
  kMoves,          // slots of shards that were moved follow the transaction
  kIssued,         // slots are told how many IDs were issued
  kNumber,         // others are told that the node's number may be another one
  kOwnNumber,      // this session forgets a number that held for the transaction
  kPlaces,         // slots are let go of
  kDatabase,       // last, since a sweep goes by it: the database's entry is let go of
};
inline constexpr int kAtEndCount = static_cast<int>(AtEndOrder::kDatabase) + 1;

// What is called, nullptr for nothing. But for XACT_EVENT_PRE_… none may fail. At the exit of the
// process, of which `process` is told, a transaction may still be open: its end comes after that.
struct AtEnd {
  void (*transaction)(XactEvent event);
  void (*subtransaction)(SubXactEvent event, SubTransactionId part, SubTransactionId parent);
  void (*process)();
};

// Has it called from now on. Later calls cost next to nothing. Fails with 53200 where there is no
// memory; not to be called when the library is loaded, which may be in the postmaster.
void at_end_subscribe(AtEndOrder order, const AtEnd& what);

}  // namespace snowid::pg
