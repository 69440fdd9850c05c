// Commits that must be durable. See durable_commit.hpp.
#include "pg/server/durable_commit.hpp"

#include "pg/base/errors.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

// Whether this transaction has to commit durably.
bool is_required = false;

}  // namespace

void require_durable_commit() { is_required = true; }

// Done at the end of the transaction, since the session may change the setting until then.
void at_eoxact_durable_commit(XactEvent event) {
  if (!is_required) return;
  switch (event) {
    case XACT_EVENT_PRE_COMMIT:
      if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
        set_config_option("synchronous_commit", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL,
                          true, 0, false);
      break;
    case XACT_EVENT_PRE_PREPARE:
      ereport(ERROR,
              (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
               errmsg("cannot prepare a transaction that has moved a shard or a node's number"),
               errhint("Do that in a transaction of its own.")));
      break;
    case XACT_EVENT_COMMIT:
    case XACT_EVENT_ABORT:
      is_required = false;
      break;
    default:
      break;
  }
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_commit_durably);

// snowid_internal.commit_durably() → void
Datum snowid_commit_durably(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_durable_commit();
  PG_RETURN_VOID();
}
}
