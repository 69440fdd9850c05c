// The SQL functions that have a database join a registry, and leave it.
#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/nodes/citus.hpp"
#include "pg/nodes/exchange.hpp"
#include "pg/server/remote.hpp"
#include "pg/server/subtransaction.hpp"

namespace snowid::pg {

namespace {

// A node's name if none is given.
const char* default_node() {
  char host[256];
  if (gethostname(host, sizeof(host)) != 0)
    ereport(ERROR, (errcode(ERRCODE_SYSTEM_ERROR), errmsg("could not get host name: %m"),
                    errhint("Name the node: it is the second argument of snowid.join().")));
  host[sizeof(host) - 1] = '\0';
  return psprintf("%s:%d/%s", host, PostPortNumber, get_database_name(MyDatabaseId));
}

// 55000: the database has joined another registry.
[[noreturn]] void report_joined(const Membership& member) {
  ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                  errmsg("database has joined as node \"%s\", with number " INT64_FORMAT,
                         member.node, member.number),
                  errdetail("The registry is server \"%s\".", member.server),
                  errhint("To get another number, use snowid.leave() first.")));
  pg_unreachable();
}

void join(const char* server, const char* node, Membership* member) {
  if (*node == '\0' || strlen(node) > kLongestName)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("invalid name of a node: \"%s\"", node),
                    errdetail("It has 1 to %d bytes.", kLongestName)));
  require_no_citus();
  const Registry registry = registry_of(server, nullptr);
  require_connect_timeout(registry.server);
  require_near_clocks(registry, registry_compare_clocks(registry));
  strlcpy(member->node, node, sizeof(member->node));
  claim_number(registry, member);
}

// For a subtransaction: the node has stopped, whatever becomes of this.
void tell_registry(void* member) {
  auto* left = static_cast<Membership*>(member);
  retire_number(registry_of(left->server, left->node), left);
}

void leave(Membership* member) {
  const MemberState state = state_of(*member);
  // A copy has no number to give back.
  const bool is_told =
      state != MemberState::kJoined && (state != MemberState::kLeaving || !is_bound(*member));
  // Before the registry is told: its answer may be lost.
  member->state = is_told ? MemberState::kLeft : MemberState::kLeaving;
  member->is_claiming = false;
  membership_write(*member);
  membership_row_delete();
  if (is_told) return;
  ErrorData* error = try_in_subtransaction(tell_registry, member);
  if (error == nullptr) {
    member->state = MemberState::kLeft;
    membership_write(*member);
    return;
  }
  if (error->sqlerrcode == ERRCODE_QUERY_CANCELED) ReThrowError(error);
  ereport(WARNING, (errmsg("registry was not told that node \"%s\" has left", member->node),
                    errdetail_internal("%s", error->message),
                    errhint("Use snowid.leave() again, or snowid.retire_node(" INT64_FORMAT
                            ") on the registry.",
                            member->number)));
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_join);
SNOWID_FUNCTION(snowid_leave);

// snowid.join(server name, node_name text) → bigint
Datum snowid_join(PG_FUNCTION_ARGS) {
  if (PG_ARGISNULL(0)) PG_RETURN_NULL();
  require_nextval("snowid.join()");
  const char* server = NameStr(*PG_GETARG_NAME(0));
  const char* node = PG_ARGISNULL(1) ? nullptr : text_to_cstring(PG_GETARG_TEXT_PP(1));
  membership_lock();
  Membership member = membership_read();
  if (state_of(member) != MemberState::kJoined)
    join(server, node != nullptr ? node : default_node(), &member);
  else if (strcmp(member.server, server) != 0 ||
           (node != nullptr && strcmp(member.node, node) != 0))
    report_joined(member);
  membership_row_store(member);
  PG_RETURN_INT64(member.number);
}

// snowid.leave() → void
Datum snowid_leave(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_nextval("snowid.leave()");
  membership_lock();
  Membership member = membership_read();
  const MemberState state = state_of(member);
  if (state == MemberState::kNone || state == MemberState::kRestored) report_state(member);
  leave(&member);
  PG_RETURN_VOID();
}
}
