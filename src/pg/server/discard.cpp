// Watching for DISCARD. See discard.hpp.
#include "pg/server/discard.hpp"

namespace snowid::pg {

namespace {

ProcessUtility_hook_type next_hook = nullptr;

constexpr int kMostSubscribers = 8;
void (*subscribers[kMostSubscribers])();
int subscriber_count = 0;

void forget_on_discard(PlannedStmt* statement, const char* query, bool read_only_tree,
                       ProcessUtilityContext context, ParamListInfo parameters,
                       QueryEnvironment* environment, DestReceiver* receiver,
                       QueryCompletion* completion) {
  Node* utility = statement->utilityStmt;
  const bool forgets = IsA(utility, DiscardStmt) &&
                       (reinterpret_cast<DiscardStmt*>(utility)->target == DISCARD_ALL ||
                        reinterpret_cast<DiscardStmt*>(utility)->target == DISCARD_SEQUENCES);
  if (next_hook != nullptr)
    next_hook(statement, query, read_only_tree, context, parameters, environment, receiver,
              completion);
  else
    standard_ProcessUtility(statement, query, read_only_tree, context, parameters, environment,
                            receiver, completion);
  if (!forgets) return;
  for (int i = 0; i < subscriber_count; i++) subscribers[i]();
}

}  // namespace

void discard_subscribe(void (*forget)()) {
  if (subscriber_count == kMostSubscribers) elog(ERROR, "too many subscribers to DISCARD");
  if (subscriber_count == 0) {
    next_hook = ProcessUtility_hook;
    ProcessUtility_hook = forget_on_discard;
  }
  subscribers[subscriber_count++] = forget;
}

}  // namespace snowid::pg
