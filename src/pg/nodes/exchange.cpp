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

// Asks for the next token, which is made and stored unless there is one. If the registry has it,
// the node goes by it, and by that registry.
Answer ask_for_next(const Registry& registry, const char* request, const char* identity,
                    int64 token, Membership* member) {
  if (member->next == 0) {
    member->next = new_token();
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

// Replaces the token by one that is made now. What was asked for before is finished first.
Answer exchange(const Registry& registry, const char* request, Membership* member) {
  if (member->next != 0) {
    const Answer answer =
        ask_for_next(registry, kExchange, member->registry, member->token, member);
    if (answer.verdict != Verdict::kHeld) return answer;
  }
  return ask_for_next(registry, request, member->registry, member->token, member);
}

// The same, of a server that states something: from whatever token the registry has now.
Answer exchange_as_stated(const Registry& registry, const char* request, const Answer& look,
                          Membership* member) {
  const bool was_asked = member->next != 0;
  const Answer answer = ask_for_next(registry, request, look.identity, look.token, member);
  if (answer.verdict != Verdict::kHeld || !was_asked) return answer;
  return ask_for_next(registry, request, member->registry, member->token, member);
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
  const char* text = finding_text(*member);
  ereport(WARNING,
          (errmsg("registry over server \"%s\" has not confirmed number " INT64_FORMAT
                  " of node \"%s\"",
                  member->server, member->number, member->node),
           errdetail_internal("%c%s.", pg_toupper(static_cast<unsigned char>(*text)), text + 1),
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
  // A registry that was set back may give the claim another number than before.
  member->number = 0;
  const Answer answer = registry_ask(registry, kClaim, member->registry, 0, *member);
  if (answer.verdict != Verdict::kHeld) report_lost_claim(registry, member);
  member->number = answer.number;
  if (exchange(registry, kExchange, member).verdict != Verdict::kHeld)
    report_lost_claim(registry, member);
  member->is_claiming = false;
  member->state = MemberState::kJoined;
  member->checked = GetCurrentTimestamp();
  membership_bind(member);
  membership_write(*member);
}

void check_number(const Registry& registry, Membership* member) {
  const Answer answer = exchange(registry, kExchange, member);
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

Answer look_before_taking(const Registry& registry, const Membership& member) {
  const Answer look = registry_ask(registry, kLook, member.registry, 0, member);
  if (look.verdict != Verdict::kHeld) report_refused(registry, member, look.verdict);
  return look;
}

void take_over_number(const Registry& registry, const Answer& look, Membership* member) {
  const Answer answer = exchange_as_stated(registry, kTakeOver, look, member);
  if (answer.verdict != Verdict::kHeld) report_refused(registry, *member, answer.verdict);
  member->finding = Finding::kNothing;
  member->state = MemberState::kJoined;
  member->checked = GetCurrentTimestamp();
  membership_bind(member);
}

void accept_registry(const Registry& registry, Membership* member) {
  const Answer look = registry_ask(registry, kLook, "", 0, *member);
  if (look.verdict == Verdict::kRetired) stop(MemberState::kRetired, member);
  const Answer answer = exchange_as_stated(registry, kAccept, look, member);
  // Who was promoted states by this that it is the registry, and not which server is the node.
  if (answer.verdict == Verdict::kPromoted)
    memmove(member->registry, answer.identity, sizeof(member->registry));
  else if (answer.verdict != Verdict::kHeld)
    report_refused(registry, *member, answer.verdict);
  check_number(registry, member);
}

void retire_number(const Registry& registry, Membership* member) {
  const Verdict verdict = exchange(registry, kLeave, member).verdict;
  if (verdict != Verdict::kHeld && verdict != Verdict::kRetired)
    report_refused(registry, *member, verdict);
}

}  // namespace snowid::pg
