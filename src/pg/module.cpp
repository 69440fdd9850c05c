// The module: magic block, _PG_init(), and callbacks. Each kind has one callback, which lists the
// calls in their order, like CommitTransaction() in PostgreSQL's xact.c. (All libraries share ten
// relcache callbacks and twenty exit callbacks.) Only this file includes all modules.
//
// _PG_init() allocates no shared memory: shared_preload_libraries need not list the library.
#include "pg/postgres.hpp"

#include "pg/ceiling/ceiling.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/session_cache.hpp"
#include "pg/nodes/nodes.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "tcop/utility.h"
#include "utils/inval.h"
}

namespace snowid::pg {

namespace {

// None of these raises an error, except in XACT_EVENT_PRE_… events.
void at_eoxact(XactEvent event, void*) {
  at_eoxact_durable_commit(event);  // first: it may reject PREPARE TRANSACTION
  at_eoxact_counters(event);
  at_eoxact_moves(event);
  counts_flush();
  at_eoxact_shared_number(event);
  at_eoxact_node_number();
}

void at_eosubxact(SubXactEvent event, SubTransactionId part, SubTransactionId parent, void*) {
  at_eosubxact_counters(event);
  at_eosubxact_moves(event, part, parent);
}

// relid: InvalidOid for all relations.
void on_relcache(Datum, Oid relid) {
  on_relcache_ceiling(relid);
  on_relcache_counters(relid);
  default_shard_forget();
}

ProcessUtility_hook_type next_hook = nullptr;

// A connection pooler hands the session to another client: DISCARD ALL and DISCARD SEQUENCES clear
// the last IDs, as they do lastval and currval.
void process_utility(PlannedStmt* statement, const char* query, bool read_only_tree,
                     ProcessUtilityContext context, ParamListInfo parameters,
                     QueryEnvironment* environment, DestReceiver* receiver,
                     QueryCompletion* completion) {
  const auto* discard = reinterpret_cast<DiscardStmt*>(statement->utilityStmt);
  const bool forgets = IsA(discard, DiscardStmt) &&
                       (discard->target == DISCARD_ALL || discard->target == DISCARD_SEQUENCES);
  (next_hook != nullptr ? next_hook : standard_ProcessUtility)(
      statement, query, read_only_tree, context, parameters, environment, receiver, completion);
  if (forgets) forget_last_ids();
}

void callbacks_register() {
  RegisterXactCallback(at_eoxact, nullptr);
  RegisterSubXactCallback(at_eosubxact, nullptr);
  CacheRegisterRelcacheCallback(on_relcache, 0);
  next_hook = ProcessUtility_hook;
  ProcessUtility_hook = process_utility;
}

}  // namespace

// Runs before the end of an open transaction. Registered by shmem/shared_table.cpp.
void at_session_exit(int, Datum) {
  at_exit_counters();
  counts_flush();
  at_exit_session_cache();  // after its IDs are counted
  at_exit_database();       // last: sweeps remove databases without users
}

}  // namespace snowid::pg

extern "C" {
SNOWID_EXPORT const Pg_magic_struct* PG_MAGIC_FUNCTION_NAME(void);
SNOWID_MODULE_MAGIC;

// fmgr.h declares it since PostgreSQL 16.
SNOWID_EXPORT void _PG_init(void);
}

void _PG_init(void) {
  snowid::pg::ceiling_register();
  snowid::pg::id_settings_register();
  snowid::pg::counter_settings_register();
  snowid::pg::nodes_register();
  snowid::pg::callbacks_register();
  MarkGUCPrefixReserved("snowid");
}
