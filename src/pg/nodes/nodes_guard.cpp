// What the registry, which is SQL (nodes.sql), needs of C: the trigger on its table of nodes, and
// commits that are not lost.
#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/server/durable_commit.hpp"
#include "pg/server/own_table.hpp"

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_commit_durably);
SNOWID_FUNCTION(snowid_keep_nodes);

// snowid_internal.commit_durably() → void
Datum snowid_commit_durably(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_durable_commit();
  PG_RETURN_VOID();
}

// Rows that logical replication inserts, updates or deletes are about another registry's nodes, and
// are skipped. None is deleted, for its number was given.
Datum snowid_keep_nodes(PG_FUNCTION_ARGS) {
  constexpr char kHint[] = "Use snowid_leave() on each node, or snowid.retire_node() here.";
  const TriggerData* trigger = require_own_trigger(fcinfo, "keep_nodes", kHint);
  if (IsLogicalWorker()) PG_RETURN_DATUM(Datum{0});
  if (TRIGGER_FIRED_BY_DELETE(trigger->tg_event))
    ereport(ERROR,
            (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
             errmsg("cannot delete from table \"snowid_internal.nodes\""),
             errdetail("A number that was given is not given again."), errhint("%s", kHint)));
  PG_RETURN_POINTER(row_of(trigger));
}
}
