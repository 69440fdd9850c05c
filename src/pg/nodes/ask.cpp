// A node asks its registry. See registry.hpp. What comes back is not trusted: whoever can change
// the registry could otherwise have this server do anything.
#include "pg/base/nap.hpp"
#include "pg/base/text.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/registry.hpp"
#include "pg/server/remote.hpp"

namespace snowid::pg {

namespace {

constexpr char kAskClock[] =
    "SELECT (EXTRACT(epoch FROM pg_catalog.clock_timestamp())"
    " OPERATOR(pg_catalog.*) 1000000::numeric)::bigint";

// The columns of the answer to a request.
enum Column : int { kVerdict = 1, kHeldNumber, kHeldNode, kReported, kColumns = kReported };

// 08P01: the answer is not one that the statement can give.
[[noreturn]] void report_nonsense(const Registry& registry) {
  ereport(ERROR,
          (errcode(ERRCODE_PROTOCOL_VIOLATION),
           errmsg("server \"%s\" has not answered as a registry does", registry.name),
           errhint("See to it that its database has extension \"snowid\" of this version.")));
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
  reading->there = {number_column(reading->registry, 1, 0, kLastMillis * 1000)};
}

struct Question {
  const Registry& registry;
  const Member& member;
  bool is_claim;
  Answer* answer;
};

// argument: a Question.
void read_answer(void* argument) {
  const Question& question = *static_cast<const Question*>(argument);
  const Registry& registry = question.registry;
  const char* verdict = text_column(registry, kVerdict);
  Answer* answer = question.answer;
  answer->is_taken = strcmp(verdict, kTaken) == 0;
  answer->is_held = answer->is_taken || strcmp(verdict, kHeld) == 0;
  if (!answer->is_held && strcmp(verdict, kLost) != 0) report_nonsense(registry);
  answer->number = number_column(registry, kHeldNumber, 1, kMostNumber);
  answer->reported = {number_column(registry, kReported, 0, kLastMillis)};
  // Another's number, or the answer to another question.
  if (strcmp(text_column(registry, kHeldNode), question.member.node) != 0 ||
      (!question.is_claim && answer->number != question.member.number) ||
      (question.is_claim && !answer->is_held))
    report_nonsense(registry);
}

// Asks, and fails as registry_ask() does.
void run(const Registry& registry, const char* text, int columns, void (*read)(void*),
         void* argument) {
  ErrorData* error = remote_run({registry.server, registry.role, text, columns, read, argument});
  if (error == nullptr) return;
  if (!IsUnreachable(error)) {
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
  // Its owner says where a superuser's session would connect to, and as whom; dblink asks a
  // superuser for no password.
  if (superuser() && !superuser_arg(GetForeignServer(oid)->owner))
    ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                    errmsg("owner of foreign server \"%s\" is no superuser", server),
                    errdetail("A superuser does not connect to where somebody else has him."),
                    errhint("Call the function as the owner of the server.")));
  return {oid, GetUserId(), server};
}

ClockGap registry_compare_clocks(const Registry& registry) {
  ClockReading reading{registry, {0}};
  const int64 before = unix_now().value;
  run(registry, kAskClock, 1, read_clock, &reading);
  const int64 after = unix_now().value;
  const int64 there = reading.there.value;
  return {before > there ? before - there : std::min(after - there, int64{0}), there - before};
}

void require_near_clocks(const Registry& registry, const ClockGap& gap) {
  const int64 difference_us = std::abs(gap.ahead_us);
  if (difference_us <= kMostDifferenceUs) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
       errmsg("clock is " INT64_FORMAT " ms %s that of server \"%s\"", (difference_us + 999) / 1000,
              gap.ahead_us > 0 ? "ahead of" : "behind", registry.name),
       errdetail("It may differ by " INT64_FORMAT " ms.", kMostDifferenceUs / 1000),
       errhint("Set the clocks of both servers right; let a time service keep them so.")));
}

Answer registry_ask(const Registry& registry, const char* request, const Member& member,
                    int64 token, int64 next_token) {
  Answer answer{};
  answer.ceiling = ceiling_read().ceiling;
  Question question{registry, member, strcmp(request, kClaim) == 0, &answer};
  const char* text = psprintf(
      "SELECT r.* FROM snowid.register(%s::pg_catalog.text, %s::pg_catalog.text, " INT64_FORMAT
      "::bigint, %s::pg_catalog.text, " INT64_FORMAT "::bigint, " INT64_FORMAT
      "::bigint, %s::pg_catalog.text, " INT64_FORMAT
      "::bigint, %u::bigint, %u::bigint, " INT64_FORMAT "::bigint) AS r",
      quote_literal_cstr(request), quote_literal_cstr(member.node), member.number,
      quote_literal_cstr(member.secret), token, next_token,
      quote_literal_cstr(get_database_name(MyDatabaseId)),
      static_cast<int64>(GetSystemIdentifier()), MyDatabaseId, GetWALInsertionTimeLine(),
      answer.ceiling.value);
  run(registry, text, kColumns, read_answer, &question);
  return answer;
}

void heed_reported(const Answer& answer, bool were_others) {
  const core::UnixMicros reported{answer.reported.value * 1000};
  if (!ceiling_known) ceiling_learn();
  if (WildAt(WildTimesNow(), reported) != nullptr) return;
  const core::UnixMicros now = LeadFromNow(unix_now());
  // An ID's time is ahead of the clock by snowid.max_lead at most, and what is reported ahead of
  // that by a step. So a clock that was never set back is not behind that, however soon it is
  // looked at again.
  const int64 behind_us = reported.value - now.value - max_lead_us() - core::kFarthestUs;
  if (behind_us > 0)
    ereport(
        ERROR,
        (errcode(kClockBehind),
         errmsg("clock is " INT64_FORMAT
                " ms behind the greatest ID time that this node has reported",
                (reported.value - now.value + 999) / 1000),
         errdetail(
             "It has reported %s, and \"snowid.max_lead\" and the ceiling account for " INT64_FORMAT
             " ms.",
             moment_text(reported), (max_lead_us() + core::kFarthestUs) / 1000),
         errhint("Set the clock right, or wait until it has caught up.")));
  // With a ceiling below, this database is older than what it has reported: a backup, or a standby
  // that lagged.
  if (reported.value > 0 && (were_others || answer.reported.value > answer.ceiling.value))
    issue_only_above(reported);
}

void wait_out_copy(const Answer& answer, const ClockGap& gap) {
  if (!answer.is_taken) return;
  const core::UnixMicros there{unix_now().value + gap.most_behind_us};
  const core::UnixMicros moment{there.value + kMostDifferenceUs + max_lead_us()};
  ereport(NOTICE, (errmsg("waiting until %s", moment_text(moment)),
                   errdetail("Another server has gone on with number " INT64_FORMAT
                             ", and its clock may be %d seconds ahead of the registry's.",
                             answer.number, static_cast<int>(kMostDifferenceUs / USECS_PER_SEC))));
  // Also since the copy may have used part of a unit of time, where those are long.
  issue_only_above(moment);
  while (unix_now() < moment) nap(100, clock_wait_event());
}

}  // namespace snowid::pg
