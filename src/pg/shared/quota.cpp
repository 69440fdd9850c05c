// Checking the bounds. See quota.hpp.
#include "pg/shared/quota.hpp"

#include "pg/base/clock.hpp"

namespace snowid::pg {

namespace {

// 53200.
[[noreturn]] void report_full(const Quota& quota, Bound bound) {
  const char* name = quota.counted;
  const Bounds bounds = quota.bounds();
  const char* role = GetUserNameFromId(GetSessionUserId(), true);
  switch (bound) {
    case Bound::kRole:
      ereport(
          ERROR,
          (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("too many %s are in use", name),
           errdetail("Role \"%s\" has %u in this database, which is all that one role can have.",
                     role == nullptr ? "?" : role, bounds.role),
           errhint("End the sessions that no longer need theirs, or let another role use the "
                   "rest. Superusers have no such bound.")));
      break;
    case Bound::kDatabase:
      ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("too many %s are in use", name),
                      errdetail("This database has %u, which is all that one database can have.",
                                bounds.database),
                      errhint("End the sessions that no longer need theirs, in this database.")));
      break;
    default:
      ereport(ERROR,
              (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("too many %s are in use", name),
               errdetail("The server has %u, which is all that it can have; each database may have "
                         "%u even so.",
                         bounds.server, bounds.reserved_for_database),
               errhint("End the sessions that no longer need theirs, in any database.")));
  }
  pg_unreachable();
}

}  // namespace

Bound bound_of(const Quota& quota) {
  AssertHoldsNone();
  const Bounds bounds = quota.bounds();
  const Oid user = GetSessionUserId();
  const uint32 server = CountOfServer(quota.accounts);
  const uint32 database = count_of_database(quota.accounts, MyDatabaseId);
  const uint32 role = count_of_role(quota.accounts, MyDatabaseId, user);
  if (role >= bounds.role && !superuser_arg(user)) return Bound::kRole;
  if (database >= bounds.database) return Bound::kDatabase;
  if (server >= bounds.server && database >= bounds.reserved_for_database &&
      role >= bounds.reserved_for_role)
    return Bound::kServer;
  return Bound::kNone;
}

bool BeginSweep(const Accounts& accounts, Bound bound) {
  constexpr int64 kPauseUs = 100000;
  Assert(bound != Bound::kNone && accounts.server != nullptr);
  std::atomic<int64_t>& swept_us =
      accounts.server->swept_us[static_cast<int>(bound) - static_cast<int>(Bound::kRole)];
  int64_t last = swept_us.load(std::memory_order_relaxed);
  const core::UnixMicros now = unix_now();
  if (IsRecent({last}, kPauseUs, now)) return false;
  return swept_us.compare_exchange_strong(last, now.value, std::memory_order_relaxed);
}

bool IsWithin(Bound bound, Oid database, Oid role) {
  if (bound == Bound::kServer) return true;
  return database == MyDatabaseId && (bound == Bound::kDatabase || role == GetSessionUserId());
}

void quota_require_room(Quota* quota, void (*sweep)(Bound bound)) {
  accounts_attach(&quota->accounts);
  Bound bound = bound_of(*quota);
  if (likely(bound == Bound::kNone)) return;
  if (BeginSweep(quota->accounts, bound)) {
    sweep(bound);
    bound = bound_of(*quota);
  }
  if (bound != Bound::kNone) report_full(*quota, bound);
}

}  // namespace snowid::pg
