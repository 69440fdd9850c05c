// Exchanging tokens, and taking a number over. See exchange.hpp.
#include "pg/nodes/exchange.hpp"

namespace snowid::pg {

namespace {

// 55000, after the database was marked as a copy.
[[noreturn]] void report_lost(const Registry& registry, const Member& member, Words words) {
  // Not where it was about to join, which fails.
  if (member.incarnation == words.incarnation) words.copy_of = member.incarnation;
  words_write(words);
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("number " INT64_FORMAT " of node \"%s\" is not this server's", member.number,
                  member.node),
           errdetail("Server \"%s\" has been asked by a copy of this database since it was asked "
                     "here, or the number was retired. From now on this database refuses to draw "
                     "IDs.",
                     registry.name),
           errhint("If this server is the copy, use snowid_join() under a new name. If it is to be "
                   "the node, stop the other one, and use snowid_check(take_over => true).")));
  pg_unreachable();
}

// 55000. Nothing is changed.
[[noreturn]] void report_busy(const Registry& registry, const Member& member) {
  ereport(ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("another server uses number " INT64_FORMAT " of node \"%s\"", member.number,
                  member.node),
           errdetail("It has checked at server \"%s\" just now, and this one was promoted or "
                     "restored.",
                     registry.name),
           errhint("If this server replaces the other one, stop that one and try again. If this is "
                   "a copy, use snowid_check() on the other server, and then here once more.")));
  pg_unreachable();
}

// 55000: the number cannot be taken over.
[[noreturn]] void report_retired(const Registry& registry, const Member& member) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("number " INT64_FORMAT " of node \"%s\" is retired or another's",
                         member.number, member.node),
                  errdetail("Server \"%s\" says so.", registry.name),
                  errhint("Use snowid_leave() and snowid_join() to get another number.")));
  pg_unreachable();
}

// Warns that the registry was restored: it may have forgotten other numbers as well.
void warn_if_older(const Registry& registry, const Answer& answer) {
  if (answer.verdict != Verdict::kOlder) return;
  ereport(WARNING,
          (errmsg("registry over server \"%s\" is older than this node", registry.name),
           errdetail("It has learnt of number " INT64_FORMAT " from this node. It gives no new "
                     "numbers.",
                     answer.number),
           errhint("Use snowid_check() on all nodes, and then snowid.settle_registry() there.")));
}

// Has the registry replace the token `known` by the token `asked`, and sets `known` to that.
Answer ask_with_next_token(const Registry& registry, const Member& member, Words* words) {
  const Answer answer = registry_ask(registry, kCheck, member, words->known, words->asked);
  switch (answer.verdict) {
    case Verdict::kHeld:
    case Verdict::kOlder:
      break;
    case Verdict::kMoved:
      report_moved(registry, member);
    case Verdict::kBusy:
      report_busy(registry, member);
    default:
      report_lost(registry, member, *words);
  }
  warn_if_older(registry, answer);
  words->known = words->asked;
  return answer;
}

void store_next_token(Words* words, int64 count) {
  words->asked = next_token(count);
  words_write(*words);
}

}  // namespace

const char* exchange_tokens(const Registry& registry, const Member& member, Words* words) {
  // An exchange whose answer was lost is finished first. That alone would not do: a copy that was
  // made meanwhile has both tokens, too.
  if (words->known != words->asked) ask_with_next_token(registry, member, words);
  store_next_token(words, CountOf(words->known));
  const Answer answer = ask_with_next_token(registry, member, words);
  words_write(*words);
  return answer.identity;
}

const char* take_number_over(const Registry& registry, const Member& member, Words* words) {
  const Answer look = registry_ask(registry, kLook, member, 0, 0);
  if (look.verdict == Verdict::kMoved) report_moved(registry, member);
  if (look.verdict != Verdict::kHeld) report_retired(registry, member);
  // So a request that comes late, after somebody else was granted the number, is refused.
  const int64 expected = look.token;
  // Of an exchange of its own whose answer was lost: should this be broken off, the next check has
  // to know it.
  if (expected == words->asked) words->known = expected;
  store_next_token(words, CountOf(expected));
  const Answer answer = registry_ask(registry, kTakeOver, member, expected, words->asked);
  if (answer.verdict == Verdict::kStale)
    ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                    errmsg("another server uses number " INT64_FORMAT " of node \"%s\"",
                           member.number, member.node),
                    errdetail("It has asked server \"%s\" at the same time.", registry.name),
                    errhint("Stop the other one, and try again.")));
  if (!IsHeld(answer)) report_retired(registry, member);
  warn_if_older(registry, answer);
  words->known = words->asked;
  return answer.identity;
}

}  // namespace snowid::pg
