// The SQL function that has the registry confirm a node's number: for schedulers, and for scripts
// that start a server. Each call exchanges a token, so whichever of two copies calls it second is
// found out.
#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/exchange.hpp"

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_check);

// snowid_check(take_over boolean) → bigint, the number
Datum snowid_check(PG_FUNCTION_ARGS) {
  require_nextval("snowid_check()");
  const bool takes_over = PG_GETARG_BOOL(0);
  Relation table = member_lock();
  Member member = member_read(table);
  const bool is_joined = member.state == MemberState::kJoined;
  // It has a number, and may not draw from it.
  const bool is_refused = !is_joined && member.state != MemberState::kNone;
  if (!is_joined && !(is_refused && takes_over)) report_membership(member);

  const Registry registry = registry_of(member.server, member.node);
  const ClockGap gap = registry_compare_clocks(registry);
  // Not before a copy is found out, whose clock may be wrong, too; but before anything is taken.
  if (takes_over) require_near_clocks(registry, gap);
  // With a new incarnation there is no number until the row is stored. Who has one keeps it.
  if (is_refused) member.incarnation = new_incarnation(Use::kTakeOver);
  const Answer answer =
      takes_over ? take_number_over(registry, member) : exchange_tokens(registry, member);
  require_near_clocks(registry, gap);
  heed_reported(answer, is_refused);
  wait_out_copy(answer, gap);
  if (takes_over) end_taking_over();
  member_store(table, member, false);
  table_close(table, NoLock);
  PG_RETURN_INT64(member.number);
}
}
