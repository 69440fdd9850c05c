// Every value of an answer is checked, because a role that can change the registry can forge it.
#include "pg/nodes/registry_client.hpp"

#include "core/layout.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/remote.hpp"

extern "C" {
#include "access/xlog.h"
#include "utils/uuid.h"
}

namespace snowid::pg {

namespace {

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

// In the order of the enum.
constexpr const char* kVerdicts[] = {"held",     "moved",   "unknown", "behind",
                                     "promoted", "retired", "copy"};

// A registry counts no further ahead of a node: false counts cannot add up to an overflow.
constexpr int64 kMostExchanges = PG_UINT32_MAX;

// Runs the request, and `read` on its answer. Raises: see the header.
void run_at_registry(const ForeignServer* registry, const char* text, int columns, Step read) {
  ErrorData* error = remote_run(registry->serverid, GetUserId(), text, columns, read);
  if (error == nullptr) return;
  if (error->sqlerrcode == ERRCODE_PROTOCOL_VIOLATION)
    error->hint = pstrdup("Its database needs extension \"snowid\" of this version.");
  // A lock not available is an answer of the registry.
  if (!is_unreachable(error) || error->sqlerrcode == ERRCODE_LOCK_NOT_AVAILABLE) {
    // The statement's text, useless to the user. ThrowErrorData() adds the local context.
    error->context = nullptr;
    ThrowErrorData(error);
  }
  ereport(ERROR, errcode(ERRCODE_CONNECTION_FAILURE),
          errmsg("could not reach the registry over server \"%s\"", registry->servername),
          errdetail_of_remote(error),
          errhint("Try again when it can be reached. Joined nodes work without it."));
}

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
    ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
            errmsg("server \"%s\" does not exist", server),
            node != nullptr ? errhint("Create the foreign server again, or rename it back: this "
                                      "database joined over it as node \"%s\".",
                                      node)
                            : 0);
  const AclResult usage = check_usage_of_server(oid);
  if (usage != ACLCHECK_OK) aclcheck_error(usage, OBJECT_FOREIGN_SERVER, server);
  // The foreign server's owner controls where a superuser would connect, and as which role; and
  // dblink requires no password of a superuser.
  const ForeignServer* registry = GetForeignServer(oid);
  if (superuser() && !superuser_arg(registry->owner))
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("owner of foreign server \"%s\" is not a superuser", server),
            errdetail("A superuser connects only over a foreign server owned by a superuser."),
            errhint("Call the function as the owner of the server."));
  return registry;
}

ClockGap registry_compare_clocks(const ForeignServer* registry) {
  int64 there = 0;
  const int64 before = unix_now().value;
  run_at_registry(registry,
                  "SELECT (EXTRACT(epoch FROM pg_catalog.clock_timestamp())"
                  " OPERATOR(pg_catalog.*) 1000000::numeric)::bigint",
                  1, [&] {
                    const RemoteAnswer answer{registry->servername};
                    there = answer.number(1, 0, core::kLastEpoch.value);
                  });
  const int64 after = unix_now().value;
  return {before > there ? before - there : std::min(after - there, int64{0}), there - before};
}

void require_near_clocks(const ForeignServer* registry, const ClockGap& gap) {
  const int64 difference_us = std::abs(gap.ahead_us);
  if (difference_us <= core::kClocksDifferUs) return;
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      gap.ahead_us > 0 ? errmsg("clock is %s ahead of the clock of server \"%s\"",
                                span_text(difference_us), registry->servername)
                       : errmsg("clock is %s behind the clock of server \"%s\"",
                                span_text(difference_us), registry->servername),
      errdetail("It may differ by %s.", span_text(core::kClocksDifferUs)),
      errhint(
          "Correct the clocks of both servers, and keep them synchronized with a time service."));
}

Answer registry_ask(const ForeignServer* registry, const char* request, const char* identity,
                    int64 token, const Membership& member) {
  Answer answer{};
  const char* claim = DatumGetCString(DirectFunctionCall1(uuid_out, UUIDPGetDatum(&member.claim)));
  // These two request no token, even if another request is unanswered.
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
  // Otherwise an honest registry would later take this node for a copy of itself.
  if (has_next && answer.verdict == Verdict::kHeld && answer.exchange <= member.exchange)
    report_invalid_answer(registry->servername, "It has not counted the exchange.");
  return answer;
}

}  // namespace snowid::pg
