// The SQL function that has the registry confirm a node's number: for schedulers, and for scripts
// that start a server. Each call exchanges a token, so whichever of two copies calls it second is
// found out.
#include "pg/base/errors.hpp"
#include "pg/base/nap.hpp"
#include "pg/base/text.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/exchange.hpp"

namespace snowid::pg {

namespace {

// Who takes a number over knows nothing of the last IDs of the one who had it, whose clock may have
// been ahead of the registry's. So this database issues only IDs with times that are past all of
// those, and waits until they can be had. Interruptible.
void go_above_others(const Registry& registry, const ClockGap& gap) {
  const core::UnixMicros there{unix_now().value + gap.most_behind_us};
  const core::UnixMicros moment{there.value + kMostDifferenceUs + max_lead_us()};
  ereport(NOTICE,
          (errmsg("waiting until %s", moment_text(moment)),
           errdetail("The clock of the server that had the number may have been %d seconds ahead "
                     "of that of server \"%s\".",
                     static_cast<int>(kMostDifferenceUs / USECS_PER_SEC), registry.name)));
  issue_only_above(moment);
  while (unix_now() < moment) nap(100, clock_wait_event());
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_check);

// snowid_check(take_over boolean, registry_moved boolean) → bigint, the number
Datum snowid_check(PG_FUNCTION_ARGS) {
  require_nextval("snowid_check()");
  const bool takes_over = PG_GETARG_BOOL(0);
  const bool has_moved = PG_GETARG_BOOL(1);
  Relation table = member_lock();
  Member member = member_read(table);
  // Whoever has no number may not draw: he says that he replaces who had it.
  const bool can_take_over = takes_over && member.state != MemberState::kNone;
  if (member.state != MemberState::kJoined && !can_take_over) report_membership(member);
  if (has_moved) member.registry = "";

  const Registry registry = registry_of(member.server, member.node);
  const ClockGap gap = registry_compare_clocks(registry);
  Words words = words_read();
  if (takes_over) {
    // Before anything is taken. A copy is found out also where its clock is wrong.
    require_near_clocks(registry, gap);
    member.registry = take_number_over(registry, member, &words);
    go_above_others(registry, gap);
    if (member.state != MemberState::kJoined) member.incarnation = new_incarnation();
  } else {
    member.registry = exchange_tokens(registry, member, &words);
    require_near_clocks(registry, gap);
  }
  member_store(table, member, words, false);
  table_close(table, NoLock);
  PG_RETURN_INT64(member.number);
}
}
