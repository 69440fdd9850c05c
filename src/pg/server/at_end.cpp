// Calling who has subscribed. See at_end.hpp.
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

void register_callbacks() {
  static bool is_registered = false;
  if (is_registered) return;
  RegisterXactCallback(end_transaction, nullptr);
  RegisterSubXactCallback(end_subtransaction, nullptr);
  before_shmem_exit(end_process, 0);
  is_registered = true;
}

}  // namespace

void at_end_subscribe(AtEndOrder order, const AtEnd& what) {
  register_callbacks();
  subscribed[static_cast<int>(order)] = what;
}

}  // namespace snowid::pg
