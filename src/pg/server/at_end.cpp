// Calling the subscribers. See at_end.hpp.
#include "pg/server/at_end.hpp"

namespace snowid::pg {

namespace {

AtEnd subscribed[kAtEndCount];

void end_transaction(XactEvent event, void*) {
  for (const AtEnd& what : subscribed)
    if (what.transaction != nullptr) what.transaction(event);
}

void end_subtransaction(SubXactEvent event, SubTransactionId part, SubTransactionId parent, void*) {
  for (const AtEnd& what : subscribed)
    if (what.subtransaction != nullptr) what.subtransaction(event, part, parent);
}

void end_process(int, Datum) {
  for (const AtEnd& what : subscribed)
    if (what.process != nullptr) what.process();
}

// Each of them may fail for want of memory. The next call then goes on with the one that failed, so
// that none is registered twice.
void register_callbacks() {
  static int registered = 0;
  if (registered == 0) {
    RegisterXactCallback(end_transaction, nullptr);
    registered = 1;
  }
  if (registered == 1) {
    RegisterSubXactCallback(end_subtransaction, nullptr);
    registered = 2;
  }
  if (registered == 2) {
    before_shmem_exit(end_process, 0);
    registered = 3;
  }
}

}  // namespace

void at_end_subscribe(AtEndOrder order, const AtEnd& what) {
  register_callbacks();
  subscribed[static_cast<int>(order)] = what;
}

}  // namespace snowid::pg
