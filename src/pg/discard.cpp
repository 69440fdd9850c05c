// Watching for DISCARD. See discard.hpp. The hook belongs to one process; nothing is shared.
#include "pg/discard.hpp"

#include "pg/issue.hpp"

namespace snowid::pg {

namespace {

ProcessUtility_hook_type next_hook = nullptr;

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
  ForgetLastIds();
  session_last_id = kNoId;
}

}  // namespace

void discard_register() {
  next_hook = ProcessUtility_hook;
  ProcessUtility_hook = forget_on_discard;
}

}  // namespace snowid::pg
