// Going on as another role for a while. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// What to come back to.
struct Caller {
  Oid user;
  int security;
  int settings;
};

// Goes on as a role, with a search_path of pg_catalog, since nothing of the caller's may be found
// with that role's rights. security: SECURITY_... to be added to those that are in force. A
// transaction or subtransaction that fails takes all of it back.
Caller role_enter(Oid role, int security);

// Goes on as the caller.
void role_leave(const Caller& caller);

}  // namespace snowid::pg
