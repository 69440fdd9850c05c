#include "pg/xact.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "utils/resowner.h"
}

namespace snowid::pg {

ErrorData* try_in_subtransaction(Step step) {
  Assert(!IsInParallelMode());
  MemoryContext context = CurrentMemoryContext;
  ResourceOwner resources = CurrentResourceOwner;
  // An error resets both.
  const uint32 interrupts = InterruptHoldoffCount;
  const uint32 cancels = QueryCancelHoldoffCount;
  ErrorData* volatile error = nullptr;
  BeginInternalSubTransaction(nullptr);
  PG_TRY();
  {
    MemoryContextSwitchTo(context);
    step();
    ReleaseCurrentSubTransaction();
  }
  PG_CATCH();
  {
    MemoryContextSwitchTo(context);
    InterruptHoldoffCount = interrupts;
    QueryCancelHoldoffCount = cancels;
    error = CopyErrorData();
    FlushErrorState();
    RollbackAndReleaseCurrentSubTransaction();
  }
  PG_END_TRY();
  MemoryContextSwitchTo(context);
  CurrentResourceOwner = resources;
  return error;
}

Caller role_enter(Oid role, int security) {
  Caller caller;
  GetUserIdAndSecContext(&caller.user, &caller.security);
  SetUserIdAndSecContext(role, caller.security | security);
  caller.settings = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                    GUC_ACTION_SAVE, true, 0, false);
  return caller;
}

void role_leave(const Caller& caller) {
  AtEOXact_GUC(false, caller.settings);
  SetUserIdAndSecContext(caller.user, caller.security);
}

static bool is_required = false;

void require_durable_commit() { is_required = true; }
bool is_durable_commit_required() noexcept { return is_required; }

// At the end of the transaction, because the session may change the setting until then.
void at_eoxact_durable_commit(XactEvent event) {
  if (!is_required) return;
  if (event == XACT_EVENT_PRE_PREPARE)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("cannot prepare a transaction that has moved a shard or a node's number"),
            errhint("Use a transaction of its own for this."));
  if (event == XACT_EVENT_PRE_COMMIT && synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
    set_config_option("synchronous_commit", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL,
                      true, 0, false);
  if (event == XACT_EVENT_COMMIT || event == XACT_EVENT_ABORT) is_required = false;
}

SNOWID_FUNCTION(snowid_commit_durably) {
  require_durable_commit();
  PG_RETURN_VOID();
}

}  // namespace snowid::pg
