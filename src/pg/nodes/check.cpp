// The SQL functions that have the registry, or Citus, confirm a node's number: for schedulers, and
// for scripts that start or promote a server.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/text.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/exchange.hpp"

namespace snowid::pg {

namespace {

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
void wait_until(const Registry& registry, core::UnixMicros moment) {
  ereport(NOTICE,
          (errmsg("waiting until %s", moment_text(moment)),
           errdetail("The clock of the server that had the number may have been %d seconds ahead "
                     "of that of server \"%s\".",
                     static_cast<int>(kMostDifferenceUs / USECS_PER_SEC), registry.name)));
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
  Registry registry;
};

// Raises 55000 if the database is not a node, or has left.
LockedNode lock_node() {
  membership_lock();
  LockedNode node{membership_read(), MemberState::kNone, {}};
  node.state = state_of(node.member);
  if (node.state != MemberState::kJoined && node.state != MemberState::kMoved &&
      node.state != MemberState::kReplaced)
    report_state(node.member);
  node.registry = registry_of(node.member.server, node.member.node);
  return node;
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_check_node);
SNOWID_FUNCTION(snowid_take_over_node);
SNOWID_FUNCTION(snowid_accept_registry);

// snowid.check_node() → bigint, the number
Datum snowid_check_node(PG_FUNCTION_ARGS) {
  (void)fcinfo;
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
Datum snowid_take_over_node(PG_FUNCTION_ARGS) {
  (void)fcinfo;
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
Datum snowid_accept_registry(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_nextval("snowid.accept_registry()");
  require_no_citus();
  LockedNode node = lock_node();
  if (node.state != MemberState::kJoined) report_state(node.member);
  accept_registry(node.registry, &node.member);
  PG_RETURN_INT64(node.member.number);
}
}
