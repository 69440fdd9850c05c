// The SQL functions that have a database join a registry, and leave it.
#include "pg/base/errors.hpp"
#include "pg/base/random.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/exchange.hpp"
#include "pg/server/extension.hpp"

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

// 55000: Citus gives the nodes of its cluster their numbers.
void require_no_citus() {
  if (citus_read().state == CitusState::kNone) return;
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("database is a node of Citus, which gives it its number"),
                  errhint("There is nothing to join: snowid_next() draws from that number.")));
}

// 55000: it has joined otherwise than it is asked to now.
[[noreturn]] void report_joined(const Member& member) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("database has joined as node \"%s\", with number " INT64_FORMAT,
                         member.node, member.number),
                  errdetail("The registry is server \"%s\".", member.server),
                  errhint("Use snowid_leave() first.")));
  pg_unreachable();
}

// Claims a number for a member that has all but that. An earlier claim whose answer was lost is
// made again with its tokens, of which the registry may know either; if it does, it gives the same
// number. left: what there was before.
Answer claim_number(const Registry& registry, Member* member, const Member& left) {
  const int64 mark = word_read(Word::kMark);
  member->incarnation = IncarnationOf(mark);
  const bool is_tried =
      NonceOf(mark) >= kLeastNonce && IsOfClaim(member->incarnation) &&
      (left.state == MemberState::kNone || left.incarnation != member->incarnation) &&
      IncarnationOf(word_read(Word::kToken)) == member->incarnation;
  if (!is_tried) {
    member->incarnation = new_incarnation(Use::kClaim);
    const int64 token = new_token(member->incarnation);
    word_write(Word::kToken, token);
    word_write(Word::kMark, token);
  }
  const int64 next_token = word_read(Word::kMark);
  const Answer answer =
      registry_ask(registry, kClaim, *member, word_read(Word::kToken), next_token);
  word_write(Word::kToken, next_token);
  member->number = answer.number;
  return answer;
}

// Joins as a new node.
int64 join(Relation table, const Member& left, const char* server, const char* node) {
  Member member{{MemberState::kJoined, 0, node, server}, new_secret(), 0};
  require_node_name(node);
  require_no_citus();
  const Registry registry = registry_of(server, nullptr);
  require_near_clocks(registry, registry_compare_clocks(registry));
  heed_reported(claim_number(registry, &member, left), true);
  // A copy of this database that was made while it had claimed, and had not yet joined, could claim
  // again with the same token.
  exchange_tokens(registry, member);
  member_store(table, member, true);
  return member.number;
}

// Waits until nobody draws from the number any more. All have been told; those that are in the
// middle of a transaction hear of it by its end. Meanwhile the table is not locked as it was, since
// a transaction that waits for it would wait for this one. Returns the member as it is then.
Member wait_for_draws(Relation table) {
  LockRelation(table, AccessShareLock);
  UnlockRelation(table, ShareRowExclusiveLock);
  wait_for_transactions();
  LockRelation(table, ShareRowExclusiveLock);
  return member_read(table);
}

// Gives the number back. Where the registry cannot be reached it is to be called again.
void give_back(Relation table, Member member) {
  const Registry registry = registry_of(member.server, member.node);
  const int64 incarnation = member.incarnation;
  const MemberState refusing =
      member.state == MemberState::kTaking ? MemberState::kTaking : MemberState::kLeaving;
  if (member.state == MemberState::kJoined) {
    exchange_tokens(registry, member);
    word_write(Word::kMark, MarkOf(incarnation, kLeavingNonce));
  }
  member = wait_for_draws(table);
  // Somebody else may have called it, too, and have been quicker.
  if (member.state == MemberState::kNone) return;
  if (member.state == MemberState::kJoined) report_joined(member);
  // With another incarnation the number was taken back, and somebody else has begun to leave with
  // it: he waits for those that have drawn meanwhile, which we have not.
  if (member.state != refusing || member.incarnation != incarnation) report_membership(member);
  // Where a take-over has not come to its end the registry may know either.
  const Word other = refusing == MemberState::kTaking ? Word::kMark : Word::kToken;
  registry_ask(registry, kRelease, member, word_read(Word::kToken), word_read(other));
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
  if (member.state == MemberState::kLeaving) report_membership(member);
  if (member.state == MemberState::kJoined) {
    if (strcmp(member.server, server) != 0 || (node != nullptr && strcmp(member.node, node) != 0))
      report_joined(member);
  } else {
    number = join(table, member, server, node != nullptr ? node : default_node());
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
  if (member.state == MemberState::kJoined || member.state == MemberState::kLeaving ||
      member.state == MemberState::kTaking)
    give_back(table, member);
  else  // a copy, which has no number to give back
    word_write(Word::kMark, MarkOf(member.incarnation, kCopyNonce));
  member_delete(table);
  table_close(table, NoLock);
  PG_RETURN_VOID();
}
}
