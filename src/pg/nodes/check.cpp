// The SQL function that has the registry, or Citus, confirm a node's number: for schedulers, and
// for scripts that start a server. Each call exchanges a token, so that of two copies the one that
// calls it second is detected.
#include "pg/base/errors.hpp"
#include "pg/base/nap.hpp"
#include "pg/base/text.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/exchange.hpp"

namespace snowid::pg {

namespace {

// After taking a number over. The last IDs of the server that had it are not known, and its clock
// may have been ahead of the registry's. So this database issues only IDs with times after all of
// those, and waits until the clock allows them. Interruptible.
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
  Relation table = member_lock();
  Words words = words_read();
  const bool is_replaced = !is_server_of(citus.group);
  if (words.is_replaced != is_replaced) {
    words.is_replaced = is_replaced;
    words_write(words);
  }
  if (is_replaced) report_replaced(citus.group);
  table_close(table, NoLock);
  return citus.group;
}

// Takes the number over from the server that has it, and goes above what that one has issued.
void take_over_number(const Registry& registry, const ClockGap& gap, Member* member, Words* words) {
  // Before anything is taken. A copy is found out also where its clock is wrong.
  require_near_clocks(registry, gap);
  member->registry = take_number_over(registry, *member, words);
  go_above_others(registry, gap);
  if (member->state == MemberState::kJoined) return;
  member->incarnation = new_incarnation();
  // So that, if the row is rolled back, snowid_join() does not resume an old claim.
  words->secret[0] = '\0';
}

// Has the registry confirm the number of the membership, or gives that to this database where it
// takes over.
int64 check_membership(bool takes_over, bool has_moved) {
  Relation table = member_lock();
  Member member = member_read(table);
  // A database without its own number, which may not draw, can take over: its caller states that it
  // replaces the server that had the number.
  const bool can_take_over = takes_over && member.state != MemberState::kNone;
  if (member.state != MemberState::kJoined && !can_take_over) report_membership(member);
  if (has_moved) member.registry = "";

  const Registry registry = registry_of(member.server, member.node);
  const ClockGap gap = registry_compare_clocks(registry);
  Words words = words_read();
  if (takes_over) {
    take_over_number(registry, gap, &member, &words);
  } else {
    member.registry = exchange_tokens(registry, member, &words);
    require_near_clocks(registry, gap);
  }
  member_store(table, member, words, false);
  table_close(table, NoLock);
  return member.number;
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
  if (takes_over || has_moved) require_no_citus();
  const CitusNode citus = citus_read();
  if (citus.state != CitusState::kNone) PG_RETURN_INT64(check_group(citus));
  PG_RETURN_INT64(check_membership(takes_over, has_moved));
}
}
