// Asking the registry, and what follows from its answers. Every value of an answer is checked:
// whoever can change the registry can make it answer anything.
#include "pg/nodes/exchange.hpp"

#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/ids/issue.hpp"
#include "pg/remote.hpp"
#include "pg/values.hpp"

namespace snowid::pg {

// How it answers. What is wrong with a request is an error instead.
enum class Verdict : uint8_t {
  kHeld,      // it has the next token now; with kLook and kClaim, a row of the claim
  kMoved,     // it is another registry than was asked for
  kUnknown,   // it has no row of the claim
  kBehind,    // it has lost exchanges
  kPromoted,  // the asker was promoted or restored since, and has not stated that it takes over
  kRetired,   // the number is
  kCopy,      // another server has exchanged tokens since
};

namespace {

// What is asked for, as the function's first argument has it.
constexpr char kLook[] = "look";           // what the registry has
constexpr char kClaim[] = "claim";         // the number of the claim, a new one at first
constexpr char kExchange[] = "exchange";   // to replace the token by the next one
constexpr char kTakeOver[] = "take over";  // the same, as a server that replaces the node
constexpr char kAccept[] = "accept";       // the same, or to make a row that was lost
constexpr char kLeave[] = "leave";         // the same, and to retire the number

constexpr char kAskClock[] =
    "SELECT (EXTRACT(epoch FROM pg_catalog.clock_timestamp())"
    " OPERATOR(pg_catalog.*) 1000000::numeric)::bigint";

// The columns of the answer to a request.
enum Column : int {
  kVerdict = 1,
  kHeldClaim,
  kHeldNumber,
  kHeldExchange,
  kHeldToken,
  kHeldMaxLead,
  kIsPromoted,
  kIdentity,
  kColumns = kIdentity
};

// How the verdicts are called there, in their order.
constexpr const char* kVerdicts[] = {"held",     "moved",   "unknown", "behind",
                                     "promoted", "retired", "copy"};

// A registry counts no further ahead of a node, and on from what the node says: lies do not add up
// to more than fits.
constexpr int64 kMostExchanges = PG_UINT32_MAX;

// Asks, and has `read` read the answer. Raises what the header lists.
void run_at_registry(const ForeignServer* registry, const char* text, int columns, Step read) {
  ErrorData* error = remote_run(registry->serverid, GetUserId(), text, columns, read);
  if (error == nullptr) return;
  if (error->sqlerrcode == ERRCODE_PROTOCOL_VIOLATION)
    error->hint = pstrdup("Its database needs extension \"snowid\" of this version.");
  // That a lock is not to be had is what the registry says.
  if (!is_unreachable(error) || error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE) {
    // The context says how we have put the question, which is of no use to the user. What says
    // where we were called from is added again.
    error->context = nullptr;
    ThrowErrorData(error);
  }
  ereport(ERROR,
          (errcode(ERRCODE_CONNECTION_FAILURE),
           errmsg("could not reach the registry over server \"%s\"", registry->servername),
           errdetail_internal("%s", error->message),
           error->detail != nullptr ? errdetail_log("%s", error->detail) : 0,
           errhint("Try again when it can be reached. A node that has joined works without it.")));
}

// Reads the answer to a request of this member and claim.
Answer read_answer(const ForeignServer* registry, const Membership& member, const char* claim) {
  const RemoteAnswer reader{registry->servername};
  Answer answer{};
  const char* verdict = reader.text(kVerdict);
  const auto* known = std::find_if(std::begin(kVerdicts), std::end(kVerdicts),
                                   [&](auto* name) { return strcmp(name, verdict) == 0; });
  if (known == std::end(kVerdicts)) report_invalid_answer(reader.server, "The verdict is none.");
  answer.verdict = static_cast<Verdict>(known - kVerdicts);
  answer.number = reader.number(kHeldNumber, 0, kMostNumber);
  answer.exchange = reader.number(kHeldExchange, 0, member.exchange + kMostExchanges);
  answer.token = reader.number(kHeldToken, 0);
  answer.max_lead_us = reader.number(kHeldMaxLead, 0, int64{INT_MAX} * 1000);
  answer.is_promoted = strcmp(reader.text(kIsPromoted), "t") == 0;
  const char* identity = reader.text(kIdentity);
  if (*identity == '\0' || strlen(identity) > kLongestIdentity)
    report_invalid_answer(reader.server, "The identity is too short or too long.");
  strlcpy(answer.identity, identity, sizeof(answer.identity));
  const bool is_held = answer.verdict == Verdict::kHeld;
  if (strcmp(reader.text(kHeldClaim), claim) != 0 || (is_held && answer.number < 1) ||
      (is_held && member.number != 0 && answer.number != member.number))
    report_invalid_answer(reader.server, "It is about another claim or number.");
  return answer;
}

}  // namespace

const ForeignServer* registry_of(const char* server, const char* node) {
  const Oid oid = get_foreign_server_oid(server, true);
  if (!OidIsValid(oid))
    ereport(ERROR,
            (errcode(ERRCODE_UNDEFINED_OBJECT), errmsg("server \"%s\" does not exist", server),
             node != nullptr ? errhint("Create the foreign server again, or rename it back: this "
                                       "database has joined over it as node \"%s\".",
                                       node)
                             : 0));
  const AclResult usage = check_usage_of_server(oid);
  if (usage != ACLCHECK_OK) aclcheck_error(usage, OBJECT_FOREIGN_SERVER, server);
  // The owner of the foreign server decides where a superuser's session would connect to, and as
  // which role; and dblink requires no password of a superuser.
  const ForeignServer* registry = GetForeignServer(oid);
  if (superuser() && !superuser_arg(registry->owner))
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("owner of foreign server \"%s\" is not a superuser", server),
             errdetail("A superuser connects only over a foreign server that a superuser owns."),
             errhint("Call the function as the owner of the server.")));
  return registry;
}

ClockGap registry_compare_clocks(const ForeignServer* registry) {
  int64 there = 0;
  const int64 before = unix_now().value;
  run_at_registry(registry, kAskClock, 1, [&] {
    there = RemoteAnswer{registry->servername}.number(1, 0, core::kLastEpoch.value);
  });
  const int64 after = unix_now().value;
  return {before > there ? before - there : std::min(after - there, int64{0}), there - before};
}

void require_near_clocks(const ForeignServer* registry, const ClockGap& gap) {
  const int64 difference_us = std::abs(gap.ahead_us);
  if (difference_us <= kMostDifferenceUs) return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           gap.ahead_us > 0 ? errmsg("clock is %s ahead of that of server \"%s\"",
                                     span_text(difference_us), registry->servername)
                            : errmsg("clock is %s behind that of server \"%s\"",
                                     span_text(difference_us), registry->servername),
           errdetail("It may differ by %s.", span_text(kMostDifferenceUs)),
           errhint("Set the clocks of both servers right; let a time service keep them so.")));
}

namespace {

// Asks the registry. identity: the one that it must have; an empty string for any, with kLook.
// token: the one that its row is thought to have. member: claim, number, exchange, the next token,
// name.
Answer registry_ask(const ForeignServer* registry, const char* request, const char* identity,
                    int64 token, const Membership& member) {
  Answer answer{};
  const char* claim = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&member.claim)));
  // These two ask for no token, whether or not another request has come to its end.
  const bool has_next = strcmp(request, kLook) != 0 && strcmp(request, kClaim) != 0;
  const char* text = psprintf(
      "SELECT r.verdict, r.held_claim, r.held_number, r.held_exchange, r.held_token,"
      " r.held_max_lead, r.is_promoted, r.identity FROM snowid.register(%s::pg_catalog.text,"
      " %s::pg_catalog.text, '%s'::pg_catalog.uuid, " INT64_FORMAT "::bigint, " INT64_FORMAT
      "::bigint, " INT64_FORMAT "::bigint, " INT64_FORMAT
      "::bigint, %s::pg_catalog.text, %s::pg_catalog.text, " INT64_FORMAT
      "::bigint, %u::bigint, %u::bigint, " INT64_FORMAT "::bigint) AS r",
      quote_literal_cstr(request), quote_literal_cstr(identity), claim, member.number,
      member.exchange, token, has_next ? member.next : 0, quote_literal_cstr(member.node),
      quote_literal_cstr(get_database_name(MyDatabaseId)),
      static_cast<int64>(GetSystemIdentifier()), MyDatabaseId, GetWALInsertionTimeLine(),
      max_lead_us());
  run_at_registry(registry, text, kColumns, [&] { answer = read_answer(registry, member, claim); });
  // Or an honest registry, later, would take this node for a copy of itself.
  if (has_next && answer.verdict == Verdict::kHeld && answer.exchange <= member.exchange)
    report_invalid_answer(registry->servername, "It has not counted the exchange.");
  return answer;
}

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
Answer ask_for_next(const ForeignServer* registry, const char* request, const char* identity,
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
Answer exchange(const ForeignServer* registry, const char* request, Membership* member) {
  if (member->next != 0) {
    const Answer answer =
        ask_for_next(registry, kExchange, member->registry, member->token, member);
    if (answer.verdict != Verdict::kHeld) return answer;
  }
  return ask_for_next(registry, request, member->registry, member->token, member);
}

// The same, of a server that states something: from whatever token the registry has now.
Answer exchange_as_stated(const ForeignServer* registry, const char* request, const Answer& look,
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
  ereport(WARNING,
          (errmsg("registry over server \"%s\" has not confirmed number " INT64_FORMAT
                  " of node \"%s\"",
                  member->server, member->number, member->node),
           errdetail_internal("%s", kFindings[static_cast<int>(finding)].detail),
           finding == Finding::kRegistryMoved
               ? errhint("If the old registry is stopped for good, use snowid.recover_registry() "
                         "on the registry, and then snowid.accept_registry() on each node.")
               : errhint("On the server that is to be the node, use snowid.take_over_node().")));
}

// 55000. Nothing has changed.
[[noreturn]] void report_refused(const ForeignServer* registry, const Membership& member,
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
                         registry->servername, member.number, member.node),
                  errdetail("%s", detail), errhint("%s", hint)));
}

// 55000, after the claim was forgotten.
[[noreturn]] void report_lost_claim(const ForeignServer* registry, Membership* member) {
  member->is_claiming = false;
  member->next = 0;
  membership_write(*member);
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("claim of node \"%s\" at server \"%s\" was lost", member->node,
                         registry->servername),
                  errdetail("A copy of this database has finished it, or the registry was "
                            "restored, promoted or moved meanwhile."),
                  errhint("Try again, to claim another number.")));
}

// Stores a new claim. Whatever number the database had is not its own from now on.
void store_claim(const ForeignServer* registry, Membership* member) {
  Membership claim{};
  claim.state = member->state == MemberState::kJoined ? MemberState::kLeft : member->state;
  claim.is_claiming = true;
  claim.is_group_replaced = member->is_group_replaced;
  claim.claim = new_claim();
  strlcpy(claim.server, registry->servername, sizeof(claim.server));
  strlcpy(claim.node, member->node, sizeof(claim.node));
  const Answer look = registry_ask(registry, kLook, "", 0, claim);
  strlcpy(claim.registry, look.identity, sizeof(claim.registry));
  membership_write(claim);
  *member = claim;
}

}  // namespace

void claim_number(const ForeignServer* registry, Membership* member) {
  if (!member->is_claiming || strcmp(member->server, registry->servername) != 0)
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

void check_number(const ForeignServer* registry, Membership* member) {
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

Answer look_before_taking(const ForeignServer* registry, const Membership& member) {
  const Answer look = registry_ask(registry, kLook, member.registry, 0, member);
  if (look.verdict != Verdict::kHeld) report_refused(registry, member, look.verdict);
  return look;
}

void take_over_number(const ForeignServer* registry, const Answer& look, Membership* member) {
  const Answer answer = exchange_as_stated(registry, kTakeOver, look, member);
  if (answer.verdict != Verdict::kHeld) report_refused(registry, *member, answer.verdict);
  member->finding = Finding::kNothing;
  member->state = MemberState::kJoined;
  member->checked = GetCurrentTimestamp();
  membership_bind(member);
}

void accept_registry(const ForeignServer* registry, Membership* member) {
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

void retire_number(const ForeignServer* registry, Membership* member) {
  const Verdict verdict = exchange(registry, kLeave, member).verdict;
  if (verdict != Verdict::kHeld && verdict != Verdict::kRetired)
    report_refused(registry, *member, verdict);
}

}  // namespace snowid::pg
