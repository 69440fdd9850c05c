// Asking the registry. See registry.hpp. Every value of an answer is checked: whoever can change
// the registry can make it answer anything.
#include "pg/nodes/registry.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/text.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/server/remote.hpp"

namespace snowid::pg {

namespace {

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

// How the verdicts are called there.
constexpr struct {
  const char* name;
  Verdict verdict;
} kVerdicts[] = {{"held", Verdict::kHeld},         {"moved", Verdict::kMoved},
                 {"unknown", Verdict::kUnknown},   {"behind", Verdict::kBehind},
                 {"promoted", Verdict::kPromoted}, {"retired", Verdict::kRetired},
                 {"copy", Verdict::kCopy}};

// The end of the year 9999, in Unix microseconds.
constexpr int64 kLastMicros = 253402300799999999;

// A registry counts no further ahead of a node, and on from what the node says: lies do not add up
// to more than fits.
constexpr int64 kMostExchanges = PG_UINT32_MAX;

// 08P01: the answer is not one that the statement can give.
[[noreturn]] void report_nonsense(const Registry& registry) {
  ereport(ERROR, (errcode(ERRCODE_PROTOCOL_VIOLATION),
                  errmsg("server \"%s\" has not answered as a registry does", registry.name),
                  errhint("Its database needs extension \"snowid\" of this version.")));
  pg_unreachable();
}

// A column of the one row of the answer. Fails with 08P01.
const char* text_column(const Registry& registry, int column) {
  if (SPI_processed != 1) report_nonsense(registry);
  const char* text = SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, column);
  if (text == nullptr) report_nonsense(registry);
  return text;
}

// The same as a number from `least` to `most`.
int64 number_column(const Registry& registry, int column, int64 least, int64 most) {
  const char* text = text_column(registry, column);
  const char* end = text + strlen(text);
  int64_t number;
  const std::from_chars_result result = std::from_chars(text, end, number);
  if (result.ec != std::errc{} || result.ptr != end || number < least || number > most)
    report_nonsense(registry);
  return number;
}

struct ClockReading {
  const Registry& registry;
  core::UnixMicros there;
};

// argument: a ClockReading.
void read_clock(void* argument) {
  auto* reading = static_cast<ClockReading*>(argument);
  reading->there = {number_column(reading->registry, 1, 0, kLastMicros)};
}

struct Question {
  const Registry& registry;
  const char* claim;
  const Membership& member;
  Answer* answer;
};

// Raises 08P01 if it is none.
Verdict verdict_of(const Registry& registry, const char* name) {
  for (const auto& known : kVerdicts)
    if (strcmp(known.name, name) == 0) return known.verdict;
  report_nonsense(registry);
}

// argument: a Question.
void read_answer(void* argument) {
  const Question& question = *static_cast<const Question*>(argument);
  const Registry& registry = question.registry;
  Answer* answer = question.answer;
  answer->verdict = verdict_of(registry, text_column(registry, kVerdict));
  answer->number = number_column(registry, kHeldNumber, 0, kMostNumber);
  answer->exchange =
      number_column(registry, kHeldExchange, 0, question.member.exchange + kMostExchanges);
  answer->token = number_column(registry, kHeldToken, 0, PG_INT64_MAX);
  answer->max_lead_us = number_column(registry, kHeldMaxLead, 0, int64{INT_MAX} * 1000);
  answer->is_promoted = strcmp(text_column(registry, kIsPromoted), "t") == 0;
  const char* identity = text_column(registry, kIdentity);
  const bool is_held = answer->verdict == Verdict::kHeld;
  // Another's number, or the answer to another question.
  if (*identity == '\0' || strlen(identity) > kLongestIdentity ||
      strcmp(text_column(registry, kHeldClaim), question.claim) != 0 ||
      (is_held && answer->number < 1) ||
      (is_held && question.member.number != 0 && answer->number != question.member.number))
    report_nonsense(registry);
  strlcpy(answer->identity, identity, sizeof(answer->identity));
}

// Asks, and fails as registry_ask() does.
void run_at_registry(const Registry& registry, const char* text, int columns, void (*read)(void*),
                     void* argument) {
  ErrorData* error = remote_run({registry.server, registry.role, text, columns, read, argument});
  if (error == nullptr) return;
  remote_explain(registry.name, error);
  // That a lock is not to be had is what the registry says.
  if (!is_unreachable(error) || error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE) {
    // The context says how we have put the question, which is of no use to the user. What says
    // where we were called from is added again.
    error->context = nullptr;
    ThrowErrorData(error);
  }
  ereport(ERROR,
          (errcode(ERRCODE_CONNECTION_FAILURE),
           errmsg("could not reach the registry over server \"%s\"", registry.name),
           errdetail_internal("%s", error->message),
           error->detail != nullptr ? errdetail_log("%s", error->detail) : 0,
           errhint("Try again when it can be reached. A node that has joined works without it.")));
}

}  // namespace

Registry registry_of(const char* server, const char* node) {
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
  if (superuser() && !superuser_arg(GetForeignServer(oid)->owner))
    ereport(ERROR,
            (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
             errmsg("owner of foreign server \"%s\" is not a superuser", server),
             errdetail("A superuser connects only over a foreign server that a superuser owns."),
             errhint("Call the function as the owner of the server.")));
  return {oid, GetUserId(), server};
}

ClockGap registry_compare_clocks(const Registry& registry) {
  ClockReading reading{registry, {0}};
  const int64 before = unix_now().value;
  run_at_registry(registry, kAskClock, 1, read_clock, &reading);
  const int64 after = unix_now().value;
  const int64 there = reading.there.value;
  return {before > there ? before - there : std::min(after - there, int64{0}), there - before};
}

void require_near_clocks(const Registry& registry, const ClockGap& gap) {
  const int64 difference_us = std::abs(gap.ahead_us);
  if (difference_us <= kMostDifferenceUs) return;
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("clock is %s %s that of server \"%s\"", span_text(difference_us),
                  gap.ahead_us > 0 ? "ahead of" : "behind", registry.name),
           errdetail("It may differ by %s.", span_text(kMostDifferenceUs)),
           errhint("Set the clocks of both servers right; let a time service keep them so.")));
}

Answer registry_ask(const Registry& registry, const char* request, const char* identity,
                    int64 token, const Membership& member) {
  Answer answer{};
  const char* claim = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&member.claim)));
  Question question{registry, claim, member, &answer};
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
  run_at_registry(registry, text, kColumns, read_answer, &question);
  // Or an honest registry, later, would take this node for a copy of itself.
  if (has_next && answer.verdict == Verdict::kHeld && answer.exchange <= member.exchange)
    report_nonsense(registry);
  return answer;
}

}  // namespace snowid::pg
