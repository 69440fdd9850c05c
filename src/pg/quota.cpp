// The bounds, and who is refused. See quota.hpp.
#include "pg/quota.hpp"

#include "pg/clock.hpp"

// 80 bytes each.
#ifndef SNOWID_MAX_SLOTS
#define SNOWID_MAX_SLOTS 1000000
#endif

// A database with fewer is not refused for what others have.
#ifndef SNOWID_RESERVED_SLOTS
#define SNOWID_RESERVED_SLOTS 10000
#endif

// Segments and sections, at 200 bytes each and what the keys of a section take.
#ifndef SNOWID_MAX_COUNTERS
#define SNOWID_MAX_COUNTERS 100000
#endif

#ifndef SNOWID_RESERVED_COUNTERS
#define SNOWID_RESERVED_COUNTERS 1000
#endif

namespace snowid::pg {

namespace {

struct Bounds {
  uint32 server;
  uint32 database;
  uint32 role;  // in a database
  uint32 reserved_for_database;
  uint32 reserved_for_role;
};

constexpr Bounds bounds_of(uint32 server, uint32 reserved) {
  return {server, server / 4, server / 8, reserved, reserved / 10};
}

constexpr Bounds kBounds[kKinds] = {
    bounds_of(SNOWID_MAX_SLOTS, SNOWID_RESERVED_SLOTS),
    bounds_of(SNOWID_MAX_COUNTERS, SNOWID_RESERVED_COUNTERS),
};

constexpr const char* kNames[kKinds] = {"shards", "segments and sections"};

uint32 count_of_role(Kind kind) {
  const AccountKey key{MyDatabaseId, GetSessionUserId()};
  const auto* account = static_cast<Account*>(dshash_find(accounts, &key, false));
  if (account == nullptr) return 0;
  const uint32 count = account->counts[kind];
  dshash_release_lock(accounts, const_cast<Account*>(account));
  return count;
}

// Whether a table may be swept now, by this session.
bool BeginSweep(Kind kind, Bound bound) {
  constexpr int64 kPauseUs = 100000;
  std::atomic<int64_t>& swept_us = root->swept_us[kind][static_cast<int>(bound) - 1];
  int64_t last = swept_us.load(std::memory_order_relaxed);
  const core::UnixMicros now = unix_now();
  if (IsRecent({last}, kPauseUs, now)) return false;
  return swept_us.compare_exchange_strong(last, now.value, std::memory_order_relaxed);
}

[[noreturn]] void report_full(Kind kind, Bound bound) {
  const char* name = kNames[kind];
  const Bounds& bounds = kBounds[kind];
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

Bound bound_of(Kind kind) {
  const Bounds& bounds = kBounds[kind];
  const uint32 server = root->counts[kind].load(std::memory_order_relaxed);
  const uint32 database = shared_database->counts[kind].load(std::memory_order_relaxed);
  const uint32 role = count_of_role(kind);
  if (role >= bounds.role && !superuser_arg(GetSessionUserId())) return Bound::kRole;
  if (database >= bounds.database) return Bound::kDatabase;
  if (server >= bounds.server && database >= bounds.reserved_for_database &&
      role >= bounds.reserved_for_role)
    return Bound::kServer;
  return Bound::kNone;
}

bool IsWithin(Bound bound, Oid database, Oid role) {
  if (bound == Bound::kServer) return true;
  return database == MyDatabaseId && (bound == Bound::kDatabase || role == GetSessionUserId());
}

void quota_require_room(Kind kind, void (*sweep)(Bound bound)) {
  Bound bound = bound_of(kind);
  if (likely(bound == Bound::kNone)) return;
  if (BeginSweep(kind, bound)) {
    sweep(bound);
    bound = bound_of(kind);
  }
  if (bound != Bound::kNone) report_full(kind, bound);
}

Payers quota_lock(Oid database, Oid role) {
  Payers payers;
  payers.database = static_cast<Database*>(dshash_find(databases, &database, false));
  const AccountKey key{database, role};
  bool found;
  payers.account = static_cast<Account*>(dshash_find_or_insert(accounts, &key, &found));
  if (!found) std::fill_n(payers.account->counts, kKinds, 0);
  return payers;
}

void CountMade(Kind kind, const Payers& payers) {
  root->counts[kind].fetch_add(1, std::memory_order_relaxed);
  if (payers.database != nullptr)
    payers.database->counts[kind].fetch_add(1, std::memory_order_relaxed);
  payers.account->counts[kind]++;
}

void CountGone(Kind kind, const Payers& payers) {
  root->counts[kind].fetch_sub(1, std::memory_order_relaxed);
  if (payers.database != nullptr)
    payers.database->counts[kind].fetch_sub(1, std::memory_order_relaxed);
  payers.account->counts[kind]--;
}

void quota_unlock(const Payers& payers) {
  const uint32* counts = payers.account->counts;
  if (std::all_of(counts, counts + kKinds, [](uint32 count) { return count == 0; }))
    dshash_delete_entry(accounts, payers.account);
  else
    dshash_release_lock(accounts, payers.account);
  if (payers.database != nullptr) dshash_release_lock(databases, payers.database);
}

}  // namespace snowid::pg
