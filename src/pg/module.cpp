// The module itself: its magic block, what happens when a process loads it, and the callbacks: at
// the end of transactions, subtransactions and processes, after DISCARD, and after a relation or a
// row of pg_class has changed. There is one of each kind, a list of calls in the order in which
// they have to come, as CommitTransaction() in PostgreSQL's xact.c has one. (PostgreSQL has room
// for ten callbacks for relations, and for twenty at the exit of a process, of all libraries
// together.) Only this file includes headers of all modules.
//
// _PG_init() registers all but at_session_exit(), which shmem/shared_table.cpp registers. Loading
// allocates no shared memory: it makes no difference whether shared_preload_libraries lists the
// library.
#include "pg/postgres.hpp"

#include "pg/ceiling/ceiling.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/counters/session_counter.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/session_cache.hpp"
#include "pg/ids/table_layout.hpp"
#include "pg/nodes/node_number.hpp"
#include "pg/nodes/shard_moves.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "access/xact.h"
#include "tcop/utility.h"
#include "utils/guc.h"
#include "utils/inval.h"
#include "utils/syscache.h"
}

namespace snowid::pg {

namespace {

// None of these raises an error, except for the events XACT_EVENT_PRE_….
void at_eoxact(XactEvent event, void*) {
  at_eoxact_durable_commit(event);  // first: it may reject PREPARE TRANSACTION
  at_eoxact_counters(event);
  at_eoxact_moves(event);
  at_eoxact_counts(event);
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
  on_relcache_table_layout(relid);
  on_relcache_counters(relid);
  on_relcache_node_number(relid);
}

void on_syscache(Datum, CacheNumber, uint32 hash) { on_syscache_node_number(hash); }

ProcessUtility_hook_type next_hook = nullptr;

// DISCARD ALL and DISCARD SEQUENCES make a session forget which IDs it got last, as it forgets
// lastval and currval: a connection pooler hands the session to another client.
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
  CacheRegisterSyscacheCallback(RELNAMENSP, on_syscache, 0);
  next_hook = ProcessUtility_hook;
  ProcessUtility_hook = process_utility;
}

}  // namespace

// A transaction may still be open: it ends after this.
void at_session_exit(int, Datum) {
  at_exit_counters();
  counts_flush();
  at_exit_session_cache();  // after its IDs were counted
  at_exit_database();       // last: sweeps remove entries of databases without users
}

}  // namespace snowid::pg

extern "C" {
SNOWID_EXPORT const Pg_magic_struct* PG_MAGIC_FUNCTION_NAME(void);
SNOWID_MODULE_MAGIC;

// Declared by fmgr.h from PostgreSQL 16 on.
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
