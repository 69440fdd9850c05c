// Joining and leaving a registry, and confirming the node number by the registry or by Citus, for
// schedulers and for scripts that start or promote a server.
//
// Node and registry exchange tokens, to detect copies of the node. A token is a random number made
// by the node, and stored as `next` before it is requested. The node repeats the same `next`, in
// any request, until the registry confirms it: a lost answer is asked for again, and a late request
// does no harm. A copy made meanwhile knows `next`, too; therefore only a token made after this
// confirms the node number.
//
// In the order of use: each SQL function locks the page (membership.hpp), finds the registry and
// compares clocks (registry_client.hpp), and calls exchange(). The result is on the page before
// they return or raise; after a failed request, `next` stays.
#include "pg/postgres.hpp"

#include <unistd.h>

#include "core/types.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/registry_client.hpp"
#include "pg/remote.hpp"
#include "pg/values.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "foreign/foreign.h"
#include "postmaster/postmaster.h"
}

namespace snowid::pg {

namespace {

const char* default_node() {
  char host[256];
  if (gethostname(host, sizeof(host)) != 0)
    ereport(ERROR, errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not get host name: %m"),
            errhint("Name the node: it is the second argument of snowid.join()."));
  host[sizeof(host) - 1] = '\0';
  return psprintf("%s:%d/%s", host, PostPortNumber, get_database_name(MyDatabaseId));
}

[[noreturn]] void report_joined(const Membership& member) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("database has joined as node \"%s\", with number " INT64_FORMAT, member.node,
                 member.number),
          errdetail("The registry is server \"%s\".", member.server),
          errhint("To get another number, use snowid.leave() first."));
}

// Requests the next token, made if there is none. If the registry has it, the node uses both.
Answer ask_for_next(const ForeignServer* registry, const char* request, const char* identity,
                    int64 token, Membership* member) {
  if (member->next == 0) {
    uint64 random;
    fetch_random(&random, sizeof(random));
    member->next = std::max(static_cast<int64>(random >> 1), int64{1});
    membership_write(*member);
  }
  const Answer answer = registry_ask(registry, request, identity, token, *member);
  if (answer.verdict != Verdict::kHeld) return answer;
  member->token = member->next;
  member->exchange = answer.exchange;
  member->next = 0;
  memmove(member->registry, answer.identity, sizeof(member->registry));
  return answer;
}

// Replaces the token by a new one, after finishing an earlier request. identity, token: the node's,
// or the registry's if the server states a takeover.
Answer exchange(const ForeignServer* registry, const char* request, const char* identity,
                int64 token, Membership* member) {
  const bool was_asked = member->next != 0;
  const Answer answer = ask_for_next(registry, request, identity, token, member);
  if (answer.verdict != Verdict::kHeld || !was_asked) return answer;
  return ask_for_next(registry, request, member->registry, member->token, member);
}

Answer exchange(const ForeignServer* registry, const char* request, Membership* member) {
  return exchange(registry, request, member->registry, member->token, member);
}

constexpr char kAcceptHint[] =
    "If the old registry is stopped for good, use snowid.recover_registry() on the registry, and "
    "then snowid.accept_registry() on each node.";

[[noreturn]] void stop(MemberState state, Membership* member) {
  member->state = state;
  member->next = 0;
  membership_write(*member);
  report_state(*member);
}

void note(Finding finding, Membership* member) {
  member->finding = finding;
  if (finding == Finding::kNothing) return;
  ereport(
      WARNING,
      errmsg("registry over server \"%s\" has not confirmed number " INT64_FORMAT " of node \"%s\"",
             member->server, member->number, member->node),
      errdetail_internal("%s", kFindings[static_cast<int>(finding)]),
      finding == Finding::kRegistryMoved
          ? errhint("%s", kAcceptHint)
          : errhint("On the server that will be the node, use snowid.take_over_node()."));
}

// Raises: 55000. Nothing has changed: a replaced server stays so.
[[noreturn]] void report_refused(const ForeignServer* registry, const Membership& member,
                                 Verdict verdict) {
  const char* detail = kFindings[static_cast<int>(Finding::kRegistryMoved)];
  const char* hint = kAcceptHint;
  if (verdict == Verdict::kRetired) {
    detail = "It has retired the number.";
    hint = "To get another number, use snowid.join().";
  } else if (verdict == Verdict::kCopy || verdict == Verdict::kPromoted) {
    detail = "Another server has exchanged tokens since.";
    hint = "Decide which server will be the node, stop the other one, and try again.";
  }
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("registry over server \"%s\" has not assigned number " INT64_FORMAT
                 " of node \"%s\" to this server",
                 registry->servername, member.number, member.node),
          errdetail("%s", detail), errhint("%s", hint));
}

// Raises: 55000, after deleting the claim.
[[noreturn]] void report_lost_claim(const ForeignServer* registry, Membership* member) {
  member->is_claiming = false;
  member->next = 0;
  membership_write(*member);
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg("claim of node \"%s\" at server \"%s\" was lost", member->node, registry->servername),
      errdetail("A copy of this database has finished it, or the registry was restored, promoted, "
                "or moved meanwhile."),
      errhint("Try again, to claim another number."));
}

// Stores a new claim. The database's former number is no longer its own.
void store_claim(const ForeignServer* registry, Membership* member) {
  Membership claim{};
  claim.state = member->state == MemberState::kJoined ? MemberState::kLeft : member->state;
  claim.is_claiming = true;
  claim.is_group_replaced = member->is_group_replaced;
  claim.claim = *DatumGetUUIDP(DirectFunctionCall1(gen_random_uuid, Datum{0}));
  strlcpy(claim.server, registry->servername, sizeof(claim.server));
  strlcpy(claim.node, member->node, sizeof(claim.node));
  const Answer look = registry_ask(registry, kLook, "", 0, claim);
  strlcpy(claim.registry, look.identity, sizeof(claim.registry));
  membership_write(claim);
  *member = claim;
}

// Makes the node number this server's, durably.
void settle(Membership* member) {
  member->is_claiming = false;
  member->finding = Finding::kNothing;
  member->state = MemberState::kJoined;
  member->checked = GetCurrentTimestamp();
  membership_bind(member);
  membership_write(*member);
}

// Claims a number, or finishes an earlier claim; on return the number is the node's, durably. A
// claim names the identity of the registry, asked for before it is stored. Raises: 55000, after
// deleting the claim, if another server has finished it, or the registry has another identity.
void claim_number(const ForeignServer* registry, Membership* member) {
  if (!member->is_claiming || strcmp(member->server, registry->servername) != 0)
    store_claim(registry, member);
  // A restored registry may assign another number than before.
  member->number = 0;
  const Answer answer = registry_ask(registry, kClaim, member->registry, 0, *member);
  if (answer.verdict != Verdict::kHeld) report_lost_claim(registry, member);
  member->number = answer.number;
  if (exchange(registry, kExchange, member).verdict != Verdict::kHeld)
    report_lost_claim(registry, member);
  settle(member);
}

// Exchanges the token; raises a WARNING and sets `finding` if the registry does not know it.
// Raises: 55000, after stopping the node, for a copy or a retired number.
void check_number(const ForeignServer* registry, Membership* member) {
  const Answer answer = exchange(registry, kExchange, member);
  if (answer.verdict == Verdict::kRetired) stop(MemberState::kRetired, member);
  if (answer.verdict == Verdict::kCopy) stop(MemberState::kReplaced, member);
  Finding finding = Finding::kRegistryMoved;
  if (answer.verdict == Verdict::kPromoted) finding = Finding::kPromoted;
  if (answer.verdict == Verdict::kHeld) {
    finding = answer.is_promoted ? Finding::kOtherPromoted : Finding::kNothing;
    member->checked = GetCurrentTimestamp();
  }
  note(finding, member);
  membership_write(*member);
}

void join(const char* server, const char* node, Membership* member) {
  if (*node == '\0' || strlen(node) > kLongestName)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("invalid name of a node: \"%s\"", node),
            errdetail("It has 1 to %d bytes.", kLongestName));
  require_no_citus();
  const ForeignServer* registry = registry_of(server, nullptr);
  require_connect_timeout(registry->serverid);
  require_near_clocks(registry, registry_compare_clocks(registry));
  strlcpy(member->node, node, sizeof(member->node));
  claim_number(registry, member);
}

// Issues IDs only above the returned time: an upper bound on the times of the other server's IDs,
// which are at most its max_lead_us ahead of its clock. That clock may be ahead of the registry's.
core::UnixMicros go_above_other(const ClockGap& gap, int64 other_lead_us) {
  const core::UnixMicros there{unix_now().value + gap.most_behind_us};
  const core::UnixMicros moment{there.value + core::kClocksDifferUs +
                                std::max(other_lead_us, max_lead_us())};
  require_ceiling();
  ceiling_lift(moment);
  return moment;
}

// Interruptible.
void wait_until(const ForeignServer* registry, core::UnixMicros moment) {
  ereport(NOTICE, errmsg("waiting until %s", moment_text(moment)),
          errdetail("The clock of the number's last server may have been %d seconds ahead of "
                    "the clock of server \"%s\".",
                    static_cast<int>(core::kClocksDifferUs / USECS_PER_SEC), registry->servername));
  while (unix_now() < moment) nap(100, wait_event("SnowidClock"));
}

struct LockedNode {
  Membership member;
  const ForeignServer* registry;
};

// Raises: 55000 if this server is neither the node nor, with takes_over, a copy of it.
LockedNode lock_node(bool takes_over) {
  membership_lock();
  const Membership member = membership_read();
  const MemberState state = state_of(member);
  const bool is_copy = state == MemberState::kMoved || state == MemberState::kReplaced;
  if (state != MemberState::kJoined && !(takes_over && is_copy)) report_state(member);
  return {member, registry_of(member.server, member.node)};
}

}  // namespace

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

SNOWID_FUNCTION(snowid_leave) {
  require_nextval("snowid.leave()");
  membership_lock();
  Membership member = membership_read();
  const MemberState state = state_of(member);
  if (state == MemberState::kNone || state == MemberState::kRestored) report_state(member);
  // A copy has no number to return.
  const bool is_told =
      state != MemberState::kJoined && (state != MemberState::kLeaving || !is_bound(member));
  // Before the request, because its answer may be lost.
  member.state = is_told ? MemberState::kLeft : MemberState::kLeaving;
  member.is_claiming = false;
  membership_write(member);
  membership_row_delete();
  if (is_told) PG_RETURN_VOID();
  // The node has stopped, whatever the request returns.
  ErrorData* error = try_in_subtransaction([&] {
    const ForeignServer* registry = registry_of(member.server, member.node);
    const Verdict verdict = exchange(registry, kLeave, &member).verdict;
    // A copy's number is not retired.
    if (verdict != Verdict::kHeld && verdict != Verdict::kRetired && verdict != Verdict::kCopy)
      report_refused(registry, member, verdict);
  });
  if (error == nullptr) {
    member.state = MemberState::kLeft;
    membership_write(member);
    PG_RETURN_VOID();
  }
  if (error->sqlerrcode == ERRCODE_QUERY_CANCELED) ReThrowError(error);
  ereport(WARNING, errmsg("registry has not confirmed that node \"%s\" has left", member.node),
          errdetail_internal("%s", error->message),
          errhint("Use snowid.leave() again. If no other server has the number, use "
                  "snowid.retire_node(" INT64_FORMAT ") on the registry.",
                  member.number));
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_check_node) {
  require_nextval("snowid.check_node()");
  const CitusNode citus = citus_read();
  if (citus.state != CitusState::kNone) PG_RETURN_INT64(citus_check_group(citus));
  LockedNode node = lock_node(false);
  const ClockGap gap = registry_compare_clocks(node.registry);
  check_number(node.registry, &node.member);
  // A join may have been rolled back after the page was stored.
  membership_row_store(node.member);
  require_near_clocks(node.registry, gap);
  PG_RETURN_INT64(node.member.number);
}

SNOWID_FUNCTION(snowid_take_over_node) {
  require_nextval("snowid.take_over_node()");
  require_no_citus();
  LockedNode node = lock_node(true);
  const ClockGap gap = registry_compare_clocks(node.registry);
  // Before any change. It detects a copy even if its clock is wrong.
  require_near_clocks(node.registry, gap);
  const Answer look = registry_ask(node.registry, kLook, node.member.registry, 0, node.member);
  if (look.verdict != Verdict::kHeld) report_refused(node.registry, node.member, look.verdict);
  // Also before the request, because its answer may be lost and the next check confirm the number.
  // Again after it, because the other server may issue IDs meanwhile.
  go_above_other(gap, look.max_lead_us);
  const Answer answer = exchange(node.registry, kTakeOver, look.identity, look.token, &node.member);
  if (answer.verdict != Verdict::kHeld) report_refused(node.registry, node.member, answer.verdict);
  wait_until(node.registry, go_above_other(gap, look.max_lead_us));
  settle(&node.member);
  membership_row_store(node.member);
  PG_RETURN_INT64(node.member.number);
}

SNOWID_FUNCTION(snowid_accept_registry) {
  require_nextval("snowid.accept_registry()");
  require_no_citus();
  LockedNode node = lock_node(false);
  const Answer look = registry_ask(node.registry, kLook, "", 0, node.member);
  if (look.verdict == Verdict::kRetired) stop(MemberState::kRetired, &node.member);
  const Answer answer = exchange(node.registry, kAccept, look.identity, look.token, &node.member);
  // A promoted server states the identity of the registry, not which server is the node.
  if (answer.verdict == Verdict::kPromoted)
    memmove(node.member.registry, answer.identity, sizeof(node.member.registry));
  else if (answer.verdict != Verdict::kHeld)
    report_refused(node.registry, node.member, answer.verdict);
  check_number(node.registry, &node.member);
  PG_RETURN_INT64(node.member.number);
}

}  // namespace snowid::pg
