// Running code as another role. Nothing is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The caller's role and settings, for role_leave().
struct Caller {
  Oid user;
  int security;
  int settings;
};

// Switches to a role, with a search_path of pg_catalog, so that no object of the caller's is found
// with that role's rights. security: SECURITY_... flags to add to those in force. The end of a
// failed transaction or subtransaction restores all of it.
Caller role_enter(Oid role, int security);

// Switches back to the caller.
void role_leave(const Caller& caller);

}  // namespace snowid::pg
