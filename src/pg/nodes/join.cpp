// The SQL functions that have a database join a registry, and leave it.
#include "pg/base/errors.hpp"
#include "pg/base/random.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/exchange.hpp"
#include "pg/server/remote.hpp"

namespace snowid::pg {

namespace {

// A node's name where none is given, which no two databases of a network have at a time.
const char* default_node() {
  char host[256];
  if (gethostname(host, sizeof(host)) != 0)
    ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not get host name: %m"),
                    errhint("Name the node: it is the second argument of snowid_join().")));
  host[sizeof(host) - 1] = '\0';
  return psprintf("%s:%d/%s", host, PostPortNumber, get_database_name(MyDatabaseId));
}

const char* new_secret() {
  uint64 random[2];
  fetch_random(random, sizeof(random));
  return psprintf(UINT64_FORMAT "-" UINT64_FORMAT, random[0], random[1]);
}

// 22023: see kLongestName.
void require_node_name(const char* node) {
  if (*node != '\0' && strlen(node) <= kLongestName) return;
  ereport(ERROR,
          (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid name of a node: \"%s\"", node),
           errdetail("It has 1 to %d bytes.", kLongestName)));
}

// 55000: the database has joined another registry, or under another name.
[[noreturn]] void report_joined(const Member& member) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("database has joined as node \"%s\", with number " INT64_FORMAT, member.node,
                  member.number),
           errdetail("The registry is server \"%s\".", member.server),
           errhint("If this is a copy of another server, use snowid_check() until it says so, and "
                   "join then. If it is not, use snowid_leave() first.")));
  pg_unreachable();
}

// Claims the number of a new member. An earlier claim that has come to no end, or whose row was
// rolled back, is made again with its secret, and then gives the same number.
void claim_number(const Registry& registry, Member* member, Words* words) {
  member->registry = "";
  Answer answer{Verdict::kLost, 0, 0, nullptr};
  if ((words->state == WordsState::kClaiming || words->state == WordsState::kJoined) &&
      words->secret[0] != '\0') {
    member->secret = pstrdup(words->secret);
    answer = registry_ask(registry, kResume, *member, words->known, words->asked);
  }
  if (!IsHeld(answer)) {
    member->secret = new_secret();
    const int64 token = next_token(0);
    *words = {WordsState::kClaiming, words->is_replaced, 0, words->copy_of, token, token, {}};
    strlcpy(words->secret, member->secret, sizeof(words->secret));
    words_write(*words);
    answer = registry_ask(registry, kClaim, *member, 0, token);
  }
  words->known = words->asked;
  member->number = answer.number;
  member->registry = answer.identity;
}

// Joins as a new node.
int64 join_as_new_node(Relation table, const Member& left, const char* server, const char* node) {
  Member member{{MemberState::kJoined, 0, node, server}, "", nullptr, new_incarnation()};
  require_node_name(node);
  require_no_citus();
  const Registry registry = registry_of(server, nullptr);
  require_connect_timeout(registry.server);
  require_near_clocks(registry, registry_compare_clocks(registry));
  Words words = words_read();
  // With a row of the same incarnation the words are not those of a claim whose row was rolled
  // back.
  if (left.state != MemberState::kNone && left.incarnation == words.incarnation)
    words.state = WordsState::kNone;
  claim_number(registry, &member, &words);
  // A copy of this database that was made while it had claimed, and had not yet joined, could claim
  // again with the same token.
  member.registry = exchange_tokens(registry, member, &words);
  member_store(table, member, words, true);
  return member.number;
}

// Has the registry retire the number: nobody gets it again, so sessions that are drawing from it at
// this moment do no harm. Where the registry cannot be reached nothing is changed.
void retire_number(const Member& member, Words* words) {
  const Registry registry = registry_of(member.server, member.node);
  exchange_tokens(registry, member, words);
  const Answer answer = registry_ask(registry, kLeave, member, words->known, words->known);
  if (answer.verdict == Verdict::kMoved) report_moved(registry, member);
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_join);
SNOWID_FUNCTION(snowid_leave);

// snowid_join(server name, node text) → bigint
Datum snowid_join(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  require_nextval("snowid_join()");
  const char* server = NameStr(*PG_GETARG_NAME(0));
  const char* node = PG_ARGISNULL(1) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(1));
  Relation table = member_lock();
  const Member member = member_read(table);
  int64 number = member.number;
  if (member.state == MemberState::kLeft) report_membership(member);
  if (member.state == MemberState::kJoined) {
    if (strcmp(member.server, server) != 0 || (node != nullptr && strcmp(member.node, node) != 0))
      report_joined(member);
  } else {
    number = join_as_new_node(table, member, server, node != nullptr ? node : default_node());
  }
  table_close(table, NoLock);
  PG_RETURN_INT64(number);
}

// snowid_leave() → void
Datum snowid_leave(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_nextval("snowid_leave()");
  Relation table = member_lock();
  const Member member = member_read(table);
  if (member.state == MemberState::kNone) report_membership(member);
  Words words = words_read();
  // A copy has no number to give back.
  if (member.state == MemberState::kJoined) retire_number(member, &words);
  words.state = WordsState::kLeft;
  words_write(words);
  member_delete(table);
  table_close(table, NoLock);
  PG_RETURN_VOID();
}
}
