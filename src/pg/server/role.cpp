// Entering a role and leaving it. See role.hpp.
#include "pg/server/role.hpp"

namespace snowid::pg {

Caller role_enter(Oid role, int security) {
  Caller caller;
  GetUserIdAndSecContext(&caller.user, &caller.security);
  SetUserIdAndSecContext(role, caller.security | security);
  caller.settings = NewGUCNestLevel();
  set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION,
                    GUC_ACTION_SAVE, true, 0, false);
  return caller;
}

void role_leave(const Caller& caller) {
  AtEOXact_GUC(false, caller.settings);
  SetUserIdAndSecContext(caller.user, caller.security);
}

}  // namespace snowid::pg
