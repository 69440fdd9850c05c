// Exchanging tokens. See exchange.hpp.
#include "pg/nodes/exchange.hpp"

#include "pg/base/random.hpp"

namespace snowid::pg {

namespace {

int64 new_token() {
  uint64 random;
  fetch_random(&random, sizeof(random));
  return std::max(static_cast<int64>(random >> 1), int64{1});
}

pg_uuid_t new_claim() {
  pg_uuid_t claim;
  fetch_random(&claim, sizeof(claim));
  // Version 4, variant 1: RFC 9562, section 5.4.
  claim.data[6] = (claim.data[6] & 0x0f) | 0x40;
  claim.data[8] = (claim.data[8] & 0x3f) | 0x80;
  return claim;
}

void store_next(Membership* member, const char* identity) {
  member->next = new_token();
  strlcpy(member->asked, identity, sizeof(member->asked));
  membership_write(*member);
}

// Asks for the next token, which is stored. If the registry has it, the node goes by it.
Answer ask_for_next(const Registry& registry, const char* request, int64 token,
                    Membership* member) {
  const Answer answer = registry_ask(registry, request, member->asked, token, *member);
  if (answer.verdict != Verdict::kHeld) return answer;
  member->token = member->next;
  member->exchange = answer.exchange;
  member->next = 0;
  memcpy(member->registry, member->asked, sizeof(member->registry));
  return answer;
}

// An exchange with a token that is made now.
Answer exchange(const Registry& registry, const char* request, Membership* member) {
  store_next(member, member->registry);
  return ask_for_next(registry, request, member->token, member);
}

// Finishes what was asked for without an answer. kHeld if nothing was.
Verdict settle(const Registry& registry, Membership* member) {
  if (member->next == 0) return Verdict::kHeld;
  return ask_for_next(registry, kExchange, member->token, member).verdict;
}

[[noreturn]] void stop(MemberState state, Membership* member) {
  member->state = state;
  member->next = 0;
  membership_write(*member);
  report_state(*member);
}

void note(Finding finding, Membership* member) {
  member->finding = finding;
  if (finding == Finding::kNothing) return;
  ereport(WARNING,
          (errmsg("registry over server \"%s\" has not confirmed number " INT64_FORMAT
                  " of node \"%s\"",
                  member->server, member->number, member->node),
           errdetail("The %s.", finding_text(*member)),
           finding == Finding::kRegistryMoved
               ? errhint("If the old registry is stopped for good, use snowid.recover_registry() "
                         "on the registry, and then snowid.accept_registry() on each node.")
               : errhint("On the server that is to be the node, use snowid.take_over_node().")));
}

// 55000. Nothing has changed.
[[noreturn]] void report_refused(const Registry& registry, const Membership& member,
                                 Verdict verdict) {
  const char* detail = nullptr;
  const char* hint = nullptr;
  switch (verdict) {
    case Verdict::kRetired:
      detail = "It has retired the number.";
      hint = "To get another number, use snowid.join().";
      break;
    case Verdict::kCopy:
    case Verdict::kPromoted:
      detail = "Another server has exchanged tokens since.";
      hint = "Stop the server that is not to be the node, and try again on the other one.";
      break;
    default:
      detail = "It was restored, promoted, upgraded or moved, and may have lost this number.";
      hint =
          "If the old registry is stopped for good, use snowid.recover_registry() on the "
          "registry, and then snowid.accept_registry() on each node.";
      break;
  }
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("registry over server \"%s\" has not given number " INT64_FORMAT
                         " of node \"%s\" to this server",
                         registry.name, member.number, member.node),
                  errdetail("%s", detail), errhint("%s", hint)));
  pg_unreachable();
}

// 55000, after an answer to a request that started from the token looked at: it was another one by
// then, so `next` can never be taken any more.
[[noreturn]] void refuse(const Registry& registry, Verdict verdict, Membership* member) {
  member->next = 0;
  membership_write(*member);
  report_refused(registry, *member, verdict);
}

// 55000, after the claim was forgotten.
[[noreturn]] void report_lost_claim(const Registry& registry, Membership* member) {
  member->is_claiming = false;
  member->next = 0;
  membership_write(*member);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("claim of node \"%s\" at server \"%s\" was lost", member->node, registry.name),
           errdetail("A copy of this database has finished it, or the registry was "
                     "restored, promoted or moved meanwhile."),
           errhint("Try again, to claim another number.")));
  pg_unreachable();
}

// Stores a new claim. Whatever number the database had is not its own from now on.
void store_claim(const Registry& registry, Membership* member) {
  Membership claim{};
  claim.state = member->state == MemberState::kJoined ? MemberState::kLeft : member->state;
  claim.is_claiming = true;
  claim.is_group_replaced = member->is_group_replaced;
  claim.claim = new_claim();
  strlcpy(claim.server, registry.name, sizeof(claim.server));
  strlcpy(claim.node, member->node, sizeof(claim.node));
  const Answer look = registry_ask(registry, kLook, "", 0, claim);
  strlcpy(claim.registry, look.identity, sizeof(claim.registry));
  membership_write(claim);
  *member = claim;
}

}  // namespace

void claim_number(const Registry& registry, Membership* member) {
  if (!member->is_claiming || strcmp(member->server, registry.name) != 0)
    store_claim(registry, member);
  const Answer answer = registry_ask(registry, kClaim, member->registry, 0, *member);
  if (answer.verdict != Verdict::kHeld) report_lost_claim(registry, member);
  member->number = answer.number;
  if (settle(registry, member) != Verdict::kHeld ||
      exchange(registry, kExchange, member).verdict != Verdict::kHeld)
    report_lost_claim(registry, member);
  member->is_claiming = false;
  member->state = MemberState::kJoined;
  member->joined = member->checked = GetCurrentTimestamp();
  membership_bind(member);
  membership_write(*member);
}

void check_number(const Registry& registry, Membership* member) {
  Answer answer{};
  answer.verdict = settle(registry, member);
  if (answer.verdict == Verdict::kHeld) answer = exchange(registry, kExchange, member);
  switch (answer.verdict) {
    case Verdict::kHeld:
      member->checked = GetCurrentTimestamp();
      note(answer.is_promoted ? Finding::kOtherPromoted : Finding::kNothing, member);
      break;
    case Verdict::kPromoted:
      note(Finding::kPromoted, member);
      break;
    case Verdict::kRetired:
      stop(MemberState::kRetired, member);
    case Verdict::kCopy:
      stop(MemberState::kReplaced, member);
    default:
      note(Finding::kRegistryMoved, member);
      break;
  }
  membership_write(*member);
}

int64 take_over_number(const Registry& registry, Membership* member) {
  // Whatever the answer is: what was asked for has come to its end then.
  settle(registry, member);
  const Answer look = registry_ask(registry, kLook, member->registry, 0, *member);
  if (look.verdict != Verdict::kHeld) report_refused(registry, *member, look.verdict);
  // A request that comes late finds another token than the one looked at, and changes nothing.
  store_next(member, member->registry);
  const Answer answer = ask_for_next(registry, kTakeOver, look.token, member);
  if (answer.verdict != Verdict::kHeld) refuse(registry, answer.verdict, member);
  member->finding = Finding::kNothing;
  member->state = MemberState::kJoined;
  member->checked = GetCurrentTimestamp();
  membership_bind(member);
  return answer.max_lead_us;
}

void accept_registry(const Registry& registry, Membership* member) {
  const Answer look = registry_ask(registry, kLook, "", 0, *member);
  if (look.verdict == Verdict::kRetired) stop(MemberState::kRetired, member);
  if (member->next == 0 || strcmp(member->asked, look.identity) != 0)
    store_next(member, look.identity);
  const Answer answer = ask_for_next(registry, kAccept, look.token, member);
  if (answer.verdict != Verdict::kHeld) refuse(registry, answer.verdict, member);
  check_number(registry, member);
}

void retire_number(const Registry& registry, Membership* member) {
  Verdict verdict = settle(registry, member);
  if (verdict == Verdict::kHeld) verdict = exchange(registry, kLeave, member).verdict;
  membership_write(*member);
  if (verdict != Verdict::kHeld && verdict != Verdict::kRetired)
    report_refused(registry, *member, verdict);
}

}  // namespace snowid::pg
