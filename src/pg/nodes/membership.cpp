// What other files see of the membership. See membership.hpp.
#include "pg/nodes/membership.hpp"

#include "pg/nodes/member.hpp"

namespace snowid::pg {

char* server_key = nullptr;

Membership membership_read() {
  Relation table = member_open(AccessShareLock);
  const Member member = member_read(table);
  table_close(table, AccessShareLock);
  return member;
}

void report_membership(const Membership& member) {
  switch (member.state) {
    case MemberState::kNone:
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("database has not joined a registry"), errhint("Use snowid_join().")));
      break;
    case MemberState::kLeft:
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("node \"%s\" has left the registry", member.node),
                      errdetail("The transaction in which it left was rolled back here."),
                      errhint("Use snowid_leave() again.")));
      break;
    case MemberState::kMoved:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("this is not the database that has joined as node \"%s\"", member.node),
               errdetail("It was restored or copied, the server was upgraded, or its "
                         "\"%s\" is another one, since it got number " INT64_FORMAT ".",
                         "snowid.server_key", member.number),
               errhint("If this server replaces that one, use snowid_check(take_over => true). If "
                       "both go on, use snowid_join() under a new name, or snowid_leave(), which "
                       "does not ask the registry.")));
      break;
    case MemberState::kCopy:
      ereport(
          ERROR,
          (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
           errmsg("another server uses number " INT64_FORMAT " of node \"%s\"", member.number,
                  member.node),
           errhint("If this server is the copy, use snowid_join() under a new name, or "
                   "snowid_leave(), which does not ask the registry. If it is to be the node, stop "
                   "the other one, and use snowid_check(take_over => true).")));
      break;
    case MemberState::kJoined:
      break;
  }
  elog(ERROR, "unexpected state %d", static_cast<int>(member.state));
  pg_unreachable();
}

bool IsMembership(Oid relid) {
  return relid == InvalidOid || relid == member_relid() || relid == words_relid();
}

}  // namespace snowid::pg
