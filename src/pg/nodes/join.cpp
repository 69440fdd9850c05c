// The SQL functions of a node: joining a registry and leaving it; and having the registry, or
// Citus, confirm its number, for schedulers, and for scripts that start or promote a server.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/exchange.hpp"
#include "pg/remote.hpp"
#include "pg/values.hpp"
#include "pg/xact.hpp"

namespace snowid::pg {

namespace {

// A node's name if none is given.
const char* default_node() {
  char host[256];
  if (gethostname(host, sizeof(host)) != 0)
    ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not get host name: %m"),
                    errhint("Name the node: it is the second argument of snowid.join().")));
  host[sizeof(host) - 1] = '\0';
  return psprintf("%s:%d/%s", host, PostPortNumber, get_database_name(MyDatabaseId));
}

// 55000: the database has joined another registry.
[[noreturn]] void report_joined(const Membership& member) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("database has joined as node \"%s\", with number " INT64_FORMAT,
                         member.node, member.number),
                  errdetail("The registry is server \"%s\".", member.server),
                  errhint("To get another number, use snowid.leave() first.")));
}

void join(const char* server, const char* node, Membership* member) {
  if (*node == '\0' || strlen(node) > kLongestName)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid name of a node: \"%s\"", node),
                    errdetail("It has 1 to %d bytes.", kLongestName)));
  require_no_citus();
  const ForeignServer* registry = registry_of(server, nullptr);
  require_connect_timeout(registry->serverid);
  require_near_clocks(registry, registry_compare_clocks(registry));
  strlcpy(member->node, node, sizeof(member->node));
  claim_number(registry, member);
}

void leave(Membership* member) {
  const MemberState state = state_of(*member);
  // A copy has no number to give back.
  const bool is_told =
      state != MemberState::kJoined && (state != MemberState::kLeaving || !is_bound(*member));
  // Before the registry is told: its answer may be lost.
  member->state = is_told ? MemberState::kLeft : MemberState::kLeaving;
  member->is_claiming = false;
  membership_write(*member);
  membership_row_delete();
  if (is_told) return;
  // The node has stopped, whatever becomes of this.
  ErrorData* error = try_in_subtransaction(
      [&] { retire_number(registry_of(member->server, member->node), member); });
  if (error == nullptr) {
    member->state = MemberState::kLeft;
    membership_write(*member);
    return;
  }
  if (error->sqlerrcode == ERRCODE_QUERY_CANCELED) ReThrowError(error);
  ereport(WARNING, (errmsg("registry was not told that node \"%s\" has left", member->node),
                    errdetail_internal("%s", error->message),
                    errhint("Use snowid.leave() again, or snowid.retire_node(" INT64_FORMAT
                            ") on the registry.",
                            member->number)));
}

// The last IDs of the server that had the number are not known. They are not beyond its clock,
// which may have been ahead of the registry's, and its max_lead_us. So this database issues only
// IDs with times above what this returns.
core::UnixMicros go_above_other(const ClockGap& gap, int64 other_lead_us) {
  const core::UnixMicros there{unix_now().value + gap.most_behind_us};
  const core::UnixMicros moment{there.value + kMostDifferenceUs +
                                std::max(other_lead_us, max_lead_us())};
  issue_only_above(moment);
  return moment;
}

// Waits until the clock allows the IDs. Interruptible.
void wait_until(const ForeignServer* registry, core::UnixMicros moment) {
  ereport(NOTICE,
          (errmsg("waiting until %s", moment_text(moment)),
           errdetail("The clock of the server that had the number may have been %d seconds ahead "
                     "of that of server \"%s\".",
                     static_cast<int>(kMostDifferenceUs / USECS_PER_SEC), registry->servername)));
  while (unix_now() < moment) nap(100, clock_wait_event());
}

// The result of snowid.is_server_of_group().
bool is_server_of(int32 group) {
  Oid type = INT4OID;
  Datum value = Int32GetDatum(group);
  bool is_null;
  SPI_connect();
  const int result = SPI_execute_with_args("SELECT snowid.is_server_of_group($1)", 1, &type, &value,
                                           nullptr, false, 0);
  if (result != SPI_OK_SELECT || SPI_processed != 1)
    elog(ERROR, "SPI_execute_with_args: %d", result);
  const bool is_server =
      DatumGetBool(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &is_null));
  SPI_finish();
  return is_server;
}

// Asks Citus whether this server is that of its group. Where it is not, the database is marked,
// durably, until a later check finds that it is.
int32 check_group(const CitusNode& citus) {
  if (citus.state != CitusState::kNumbered) report_no_group(citus.state);
  membership_lock();
  Membership member = membership_read();
  const bool is_replaced = !is_server_of(citus.group);
  if (member.is_group_replaced != is_replaced) {
    member.is_group_replaced = is_replaced;
    membership_write(member);
  }
  if (is_replaced) report_replaced(citus.group);
  return citus.group;
}

// The node, with its page locked, and its registry.
struct LockedNode {
  Membership member;
  MemberState state;
  const ForeignServer* registry;
};

// Raises 55000 if the database is not a node, or has left.
LockedNode lock_node() {
  membership_lock();
  LockedNode node{membership_read(), MemberState::kNone, nullptr};
  node.state = state_of(node.member);
  if (node.state != MemberState::kJoined && node.state != MemberState::kMoved &&
      node.state != MemberState::kReplaced)
    report_state(node.member);
  node.registry = registry_of(node.member.server, node.member.node);
  return node;
}

}  // namespace

// snowid.join(server name, node_name text) → bigint
SNOWID_FUNCTION(snowid_join) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  require_nextval("snowid.join()");
  const char* server = NameStr(*PG_GETARG_NAME(0));
  const char* node = PG_ARGISNULL(1) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(1));
  membership_lock();
  Membership member = membership_read();
  if (state_of(member) != MemberState::kJoined)
    join(server, node != nullptr ? node : default_node(), &member);
  else if (strcmp(member.server, server) != 0 ||
           (node != nullptr && strcmp(member.node, node) != 0))
    report_joined(member);
  membership_row_store(member);
  PG_RETURN_INT64(member.number);
}

// snowid.leave() → void
SNOWID_FUNCTION(snowid_leave) {
  require_nextval("snowid.leave()");
  membership_lock();
  Membership member = membership_read();
  const MemberState state = state_of(member);
  if (state == MemberState::kNone || state == MemberState::kRestored) report_state(member);
  leave(&member);
  PG_RETURN_VOID();
}

// snowid.check_node() → bigint, the number
SNOWID_FUNCTION(snowid_check_node) {
  require_nextval("snowid.check_node()");
  const CitusNode citus = citus_read();
  if (citus.state != CitusState::kNone) PG_RETURN_INT64(check_group(citus));
  LockedNode node = lock_node();
  if (node.state != MemberState::kJoined) report_state(node.member);
  const ClockGap gap = registry_compare_clocks(node.registry);
  check_number(node.registry, &node.member);
  membership_row_require(node.member);
  require_near_clocks(node.registry, gap);
  PG_RETURN_INT64(node.member.number);
}

// snowid.take_over_node() → bigint, the number
SNOWID_FUNCTION(snowid_take_over_node) {
  require_nextval("snowid.take_over_node()");
  require_no_citus();
  LockedNode node = lock_node();
  const ClockGap gap = registry_compare_clocks(node.registry);
  // Before anything is taken. A copy is found also if its clock is wrong.
  require_near_clocks(node.registry, gap);
  const Answer look = look_before_taking(node.registry, node.member);
  // Before, since the answer may be lost, and the next check confirm the number; and once more,
  // since the other server has issued IDs meanwhile.
  go_above_other(gap, look.max_lead_us);
  take_over_number(node.registry, look, &node.member);
  wait_until(node.registry, go_above_other(gap, look.max_lead_us));
  membership_write(node.member);
  membership_row_store(node.member);
  PG_RETURN_INT64(node.member.number);
}

// snowid.accept_registry() → bigint, the number
SNOWID_FUNCTION(snowid_accept_registry) {
  require_nextval("snowid.accept_registry()");
  require_no_citus();
  LockedNode node = lock_node();
  if (node.state != MemberState::kJoined) report_state(node.member);
  accept_registry(node.registry, &node.member);
  PG_RETURN_INT64(node.member.number);
}

}  // namespace snowid::pg
