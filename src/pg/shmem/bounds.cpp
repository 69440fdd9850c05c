#include "pg/shmem/bounds.hpp"

#include "pg/clock.hpp"

namespace snowid::pg {

namespace {

uint32 read_count(const std::atomic<uint32_t>& count) noexcept {
  return count.load(std::memory_order_relaxed);
}

}  // namespace

void quota_attach(Quota* quota) {
  if (likely(quota->server != nullptr)) return;
  constexpr Oid kServer = InvalidOid;
  quota->server = static_cast<Usage*>(table_attach_entry(&quota->usages, &kServer));
}

uint32 count_of_server(const Quota& quota) noexcept { return read_count(quota.server->count); }

uint32 count_of_database(const Quota& quota, Oid database) {
  auto* usage = static_cast<Usage*>(dshash_find(quota.usages.attached, &database, false));
  if (usage == nullptr) return 0;
  const uint32 count = read_count(usage->count);
  dshash_release_lock(quota.usages.attached, usage);
  return count;
}

Bound bound_of(const Quota& quota, uint64 more) {
  assert_holds_none();
  const Bounds bounds = quota.bounds();
  if (count_of_database(quota, MyDatabaseId) + more > bounds.database) return Bound::kDatabase;
  return count_of_server(quota) + more > bounds.server ? Bound::kServer : Bound::kNone;
}

bool begin_sweep(const Quota& quota, Bound bound) {
  constexpr int64 kPauseUs = 100000;
  Assert(bound != Bound::kNone);
  const Oid of = bound == Bound::kServer ? InvalidOid : MyDatabaseId;
  auto* usage = static_cast<Usage*>(dshash_find(quota.usages.attached, &of, false));
  if (usage == nullptr) return false;
  int64_t last = usage->swept_us.load(std::memory_order_relaxed);
  const core::UnixMicros now = unix_now();
  const bool has_begun =
      !is_recent({last}, kPauseUs, now) &&
      usage->swept_us.compare_exchange_strong(last, now.value, std::memory_order_relaxed);
  dshash_release_lock(quota.usages.attached, usage);
  return has_begun;
}

bool is_within(Bound bound, Oid database) noexcept {
  return bound == Bound::kServer || (bound == Bound::kDatabase && database == MyDatabaseId);
}

Bound quota_make_room(Quota* quota, void (*sweep)(Bound bound)) {
  quota_attach(quota);
  const Bound bound = bound_of(*quota);
  if (likely(bound == Bound::kNone) || !begin_sweep(*quota, bound)) return bound;
  sweep(bound);
  return bound_of(*quota);
}

int errdetail_full(const Quota& quota, Bound bound) {
  const Bounds bounds = quota.bounds();
  if (bound == Bound::kDatabase) {
    errhint("End unused sessions of this database.");
    return errdetail("This database has " UINT64_FORMAT ", the maximum of one database.",
                     bounds.database);
  }
  errhint("End unused sessions of any database.");
  return errdetail("The server has " UINT64_FORMAT ", its maximum.", bounds.server);
}

bool has_grown(const Quota& quota, uint64 by) noexcept {
  return count_of_server(quota) >= read_count(quota.server->swept_count) + by;
}

void note_swept(const Quota& quota) noexcept {
  quota.server->swept_count.store(count_of_server(quota), std::memory_order_relaxed);
}

Usage* usage_lock(const Quota& quota, Oid database) {
  return static_cast<Usage*>(table_find_or_make(quota.usages, &database, nullptr));
}

void count_made(const Quota& quota, Usage* usage, uint32 count) noexcept {
  assert_holds_some();
  quota.server->count.fetch_add(count, std::memory_order_relaxed);
  usage->count.fetch_add(count, std::memory_order_relaxed);
}

void count_gone(const Quota& quota, Usage* usage, uint32 count) noexcept {
  assert_holds_some();
  Assert(count_of_server(quota) >= count && read_count(usage->count) >= count);
  quota.server->count.fetch_sub(count, std::memory_order_relaxed);
  usage->count.fetch_sub(count, std::memory_order_relaxed);
}

void usage_unlock(const Quota& quota, Usage* usage) {
  if (read_count(usage->count) == 0)
    table_delete(quota.usages, usage);
  else
    dshash_release_lock(quota.usages.attached, usage);
}

}  // namespace snowid::pg
