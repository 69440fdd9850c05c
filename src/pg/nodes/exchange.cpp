// The exchange. See exchange.hpp.
#include "pg/nodes/exchange.hpp"

namespace snowid::pg {

namespace {

// 55000, after all sessions have been told.
[[noreturn]] void report_lost(const Registry& registry, const Member& member) {
  word_write(Word::kMark, MarkOf(member.incarnation, kCopyNonce));
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("number " INT64_FORMAT " of node \"%s\" is another server's", member.number,
                  member.node),
           errdetail("Server \"%s\" has been asked by a copy of this database, or has given the "
                     "number to another node. From now on this database refuses to draw from it.",
                     registry.name),
           errhint("Use snowid_join() under a new name where this is the copy; stop the other one, "
                   "and use snowid_check(take_over => true), where this is to be the node.")));
  pg_unreachable();
}

// Has the registry know the token that is kMark. token: what it is asked with beside that.
Answer exchange(const Registry& registry, const Member& member, const char* request, int64 token,
                int64 next_token) {
  const Answer answer = registry_ask(registry, request, member, token, next_token);
  if (!answer.is_held) report_lost(registry, member);
  word_write(Word::kToken, next_token);
  return answer;
}

int64 new_mark(const Member& member) {
  const int64 token = new_token(member.incarnation);
  word_write(Word::kMark, token);
  return token;
}

}  // namespace

Answer exchange_tokens(const Registry& registry, const Member& member) {
  int64 token = word_read(Word::kToken);
  const int64 asked = word_read(Word::kMark);
  // An exchange whose answer was lost is finished first. That alone would not do: a copy that was
  // made meanwhile has both tokens, too.
  if (token != asked) exchange(registry, member, kCheck, token, asked);
  token = asked;
  return exchange(registry, member, kCheck, token, new_mark(member));
}

Answer take_number_over(const Registry& registry, const Member& member) {
  const int64 token = new_mark(member);
  return exchange(registry, member, kTakeOver, token, token);
}

void report_state(const Member& member) {
  switch (member.state) {
    case MemberState::kNone:
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("database has not joined a registry"), errhint("Use snowid_join().")));
      break;
    case MemberState::kLeaving:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("node \"%s\" is leaving the registry", member.node),
               errdetail("Its number " INT64_FORMAT " has not been given back yet.", member.number),
               errhint("Use snowid_leave() again.")));
      break;
    case MemberState::kMoved:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("this is not the database that has joined as node \"%s\"", member.node),
               errdetail("It was restored or copied, or the server was upgraded, since it got "
                         "number " INT64_FORMAT ".",
                         member.number),
               errhint("Use snowid_check(take_over => true) where this server replaces that one, "
                       "or snowid_join() under a new name where both are to live.")));
      break;
    case MemberState::kCopy:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("another server goes by number " INT64_FORMAT " of node \"%s\"",
                      member.number, member.node),
               errhint("Use snowid_join() under a new name where this is the copy; stop the other "
                       "one, and use snowid_check(take_over => true), where this is to be the "
                       "node.")));
      break;
    case MemberState::kJoined:
      break;
  }
  elog(ERROR, "unexpected state %d", static_cast<int>(member.state));
  pg_unreachable();
}

}  // namespace snowid::pg
