// Transactions: code that may fail, code as another role, and durable commits.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "access/xact.h"
}

namespace snowid::pg {

// A reference to a lambda, like C++26's std::function_ref. Requires: the lambda outlives the call.
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

// Calls `step` in a subtransaction, in the caller's memory context. Returns nullptr, or the error
// that rolled the subtransaction back, in the same context. Requires: no LWLock is held, because an
// error releases all; no parallel query, in which PostgreSQL up to 16 forbids subtransactions.
ErrorData* try_in_subtransaction(Step step);

struct Caller {
  Oid user;
  int security;
  int settings;
};

// Switches to a role, with a search_path of pg_catalog: the role's rights apply to no object of the
// caller. security: SECURITY_... flags to add. The end of a failed (sub)transaction restores all.
Caller role_enter(Oid role, int security);

void role_leave(const Caller& caller);

// Makes this commit wait for disk and synchronous standbys, whatever synchronous_commit is. PREPARE
// TRANSACTION raises 0A000: COMMIT PREPARED would use another session's settings.
void require_durable_commit();
bool is_durable_commit_required() noexcept;

// Called by module.cpp. Raises: 0A000 before PREPARE TRANSACTION.
void at_eoxact_durable_commit(XactEvent event);

}  // namespace snowid::pg
