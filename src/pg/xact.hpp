// Functions of a transaction: calling code that may fail (try_in_subtransaction()), running code as
// another role (role_enter(), role_leave()), and committing durably (require_durable_commit(),
// which at_eoxact_durable_commit() heeds). Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

// A reference to a lambda, as C++26's std::function_ref: the lambda outlives the call.
class Step {
 public:
  template <typename Lambda>
  Step(const Lambda& lambda)
      : of_(&lambda), call_([](const void* of) { (*static_cast<const Lambda*>(of))(); }) {}
  void operator()() const { call_(of_); }

 private:
  const void* of_;
  void (*call_)(const void* of);
};

// Calls `step` in a subtransaction, in the caller's memory context. Returns nullptr; or the error
// that the subtransaction was rolled back for, in the same context, which the caller raises or
// forgets. Requires: no LWLock is held, since an error releases all of them; no parallel query, in
// which PostgreSQL up to 16 allows no subtransactions.
ErrorData* try_in_subtransaction(Step step);

// The caller's role and settings, for role_leave().
struct Caller {
  Oid user;
  int security;
  int settings;
};

// Switches to a role, with a search_path of pg_catalog, which finds no object of the caller with
// that role's rights. security: SECURITY_... flags to add to those in force. The end of a failed
// transaction or subtransaction restores all of it.
Caller role_enter(Oid role, int security);

// Switches back to the caller.
void role_leave(const Caller& caller);

// Makes the commit of this transaction wait until it is on disk, and on the synchronous standbys,
// even if the session does not wait for its own commits; a stricter setting stays. PREPARE
// TRANSACTION fails with 0A000: it would commit with another session's settings, and hold locks
// until then.
void require_durable_commit();
bool is_durable_commit_required() noexcept;

// Called by module.cpp. Raises 0A000 before PREPARE TRANSACTION.
void at_eoxact_durable_commit(XactEvent event);

}  // namespace snowid::pg
