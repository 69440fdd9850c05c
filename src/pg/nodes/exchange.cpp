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
  // By the one that it is known to have the registry tells whether a copy has gone on; and so again
  // until that was heeded.
  const int64 token = word_read(Word::kToken);
  const Answer answer = registry_ask(registry, kTakeOver, member, token, new_mark(member));
  if (!answer.is_held) report_lost(registry, member);
  return answer;
}

void end_taking_over() { word_write(Word::kToken, word_read(Word::kMark)); }

}  // namespace snowid::pg
