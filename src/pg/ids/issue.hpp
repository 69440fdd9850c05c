// Issuing IDs: clock, tick, and ceiling together. The path of every ID.
//
// issue_one() calls, in this order: require_ceiling(); find_cached(), else cache_shard()
// (session_cache.hpp); issue(), with a fast path of clock, load, and compare-and-swap, else
// issue_slowly(); remember(); count_ids(). IDs without a shard begin with common_is_ready().
//
// The slow path avoids skipped times (core/skipped_times.hpp): before the clock reaches a range,
// the first session to ask lifts all slots of the database over it. The alert is at least a day
// before a range (last_alert), so the fast path need not check.
//
// Shared: the slot's tick, changed as described in core/tick.hpp; my_ceiling->alert_us and
// Database::number, read. The fast path takes no lock.
#pragma once

#include "pg/postgres.hpp"

#include "core/skipped_times.hpp"
#include "core/tick.hpp"
#include "pg/ceiling/ceiling.hpp"
#include "pg/clock.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/ids/session_cache.hpp"

namespace snowid::pg {

// snowid.max_wait, 0 to INT_MAX.
extern int max_wait_ms;
inline constexpr int kDefaultMaxWaitMs = 5000;
inline int64 max_wait_us() noexcept { return int64{max_wait_ms} * 1000; }

// snowid.default_shard: a shard, or one of the next two.
extern int64 shard_setting;
inline constexpr int64 kOwnNumber = -1;     // the node number
inline constexpr int64 kRefusedShard = -2;  // an invalid value

void id_settings_register();

// This session's default shard, or kUnresolvedShard; and the changes of the node number when it was
// resolved. The layout's range is checked on use.
extern int64 default_shard;
inline constexpr int64 kUnresolvedShard = -1;
extern uint64 changes_seen;
inline constexpr uint64 kNoChanges = PG_UINT64_MAX;  // exceeds all numbers of changes

// The shard selected by the setting, until default_shard_forget(), which never fails. Defined in
// nodes/node_number.cpp. Raises: 55000 if there is none, or a Citus node has the setting; 22023 if
// it is no shard.
int64 shard_of_setting();
void default_shard_forget();

// Raises: 22023 because snowid.default_shard is no shard.
[[noreturn]] void report_refused_shard();

// Raises: as shard_of_setting().
int64 shard_resolve();
inline int64 shard_by_default() {
  const int64 shard = default_shard;
  const bool is_current = changes_of(number_word->load(std::memory_order_relaxed)) == changes_seen;
  return likely(shard >= 0 && is_current) ? shard : shard_resolve();
}

// The clock is too far behind: trying again later helps, unlike with other SQLSTATEs. Classes I to
// Z are for implementations; PostgreSQL's begin with 5, F, H, P, and X.
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'N', '0', '0', '1');

// Raises: 2200H because the layout is exhausted.
[[noreturn]] void report_used_up(const core::Layout& layout);

// Raises: SN001 because a requested ID or moment is too far ahead of the clock. what: "ID" or
// "moment". wait_ms: how long the caller may wait, 0 for not at all.
[[noreturn]] void report_ahead(const char* what, int64 ahead_us, int wait_ms);

// Learns the ceiling. If the entries in memory may be a dropped database's, first closes the slots
// of released shards. Raises: 25006, 25000 (require_can_issue); class 53, 55000 (slots_attach,
// close_released); 55000, 0A000, 57014 (ceiling_learn).
void ids_learn_ceiling();
inline void require_ceiling() {
  if (unlikely(!ceiling_known)) ids_learn_ceiling();
}

// A cached shard, ready to issue. Raises: 22023 if the layout has no such shard; 53400 if there are
// too many; and as ids_learn_ceiling().
static pg_attribute_always_inline CachedShard* cached_shard(LayoutCache* cache, int64 shard) {
  require_ceiling();
  CachedShard* cached = find_cached(cache, shard);
  if (unlikely(cached == nullptr)) {
    cached = cache_shard(cache, shard);
    // Creating a slot may wait, and process an invalidation of the ceiling.
    require_ceiling();
  }
  return cached;
}

// Waits for the clock, raises the ceiling, and takes at least one ID. Raises: as issue().
core::Grant issue_slowly(const core::Layout& layout, core::Shard shard, Slot* slot, uint32 want,
                         core::Span span);

// Takes at least one and up to `want` IDs of a shard. Inlined: a constant layout costs no division.
// Requires: the ceiling is known. Raises: 2200H if the layout is exhausted; 55000 if the shard was
// released, or the node may not issue IDs; SN001; and as ceiling_raise().
static pg_attribute_always_inline core::Grant issue(const core::Layout& layout, core::Shard shard,
                                                    Slot* slot, uint32 want, core::Span span) {
  // Fetches the cache line while the clock is read.
  constexpr int kToWrite = 1;
  __builtin_prefetch(&slot->last_tick, kToWrite);
  const core::UnixMicros now = unix_now();
  const core::UnixMicros limit{
      std::min({now.value + max_lead_us(), my_ceiling->alert_us.load(std::memory_order_acquire),
                warn_from(layout).value})};
  const core::Grant grant = take(slot->last_tick, layout, time_at(layout, now), limit, want, span);
  if (unlikely(grant.count == 0)) return issue_slowly(layout, shard, slot, want, span);
  return grant;
}

// layout: the cache's, or an equal constant.
static pg_attribute_always_inline int64 issue_one(LayoutCache* cache, const core::Layout& layout,
                                                  int64 shard) {
  CachedShard* cached = cached_shard(cache, shard);
  const core::Shard valid{static_cast<uint64>(shard)};
  const core::Grant grant = issue(layout, valid, cached->slot, 1, core::Span::kAny);
  const int64 id = id_of(layout, valid, grant.first).value;
  remember(cached, id);
  count_ids(cached, 1);
  return id;
}

// How long before skipped times slots are lifted, in microseconds. Requires: a known ceiling.
inline int64 lift_early_us() noexcept {
  return core::lift_early_by(shared_database->longest_unit_us.load(std::memory_order_acquire));
}

// core::lead_begin() of this database.
inline core::UnixMicros lead_from_now(core::UnixMicros clock) noexcept {
  return lead_begin(skipped_times(), clock, shared_floor(), lift_early_us());
}

// Interruptible.
void wait_a_while(int64 for_us);

// Waits until IDs at `moment` are allowed. what: "ID" or "moment". Raises: SN001, at once, if that
// would exceed snowid.max_wait; and as ids_learn_ceiling().
void wait_until_allowed(const char* what, core::UnixMicros moment);

struct CommonShard {
  Slot* slot;      // nullptr before the first use
  int64 floor_us;  // the database's floor in the last common_make_ready()
};

// Whether common_make_ready() was called with this floor. Raises: as ids_learn_ceiling().
inline bool common_is_ready(const CommonShard& common) {
  require_ceiling();
  return common.slot != nullptr &&
         common.floor_us == my_ceiling->floor_us.load(std::memory_order_acquire);
}

// Lifts the common slot above this database's floor. A new slot is also above every time used by
// other databases, if the clock was right. The caller waits or fails before the slot is changed,
// because any database's owner can set its floor. start: the first sequence of a slot, if it is new
// or below a floor that the clock has not passed. Requires: common_is_ready() was called. Raises:
// SN001 if the floor is too far ahead; class 53.
void common_make_ready(const core::Layout& layout, CommonShard* common, core::Sequence start);

// Requires: common_is_ready() is true, or common_make_ready() was called. Raises: as issue().
static pg_attribute_always_inline core::Tick issue_common(const core::Layout& layout,
                                                          const CommonShard& common) {
  return issue(layout, {0}, common.slot, 1, core::Span::kAny).first;
}

// Called before and after the common slots are lowered (ceiling/skipped_times.cpp). Ticks may
// repeat then; therefore ObjectIDs get another random number, and one more for the time in between:
// until then other sessions may still use a tick that will repeat. Defined in types/objectid.cpp.
// Raises: 55000 if a library with another ABI number made the table; class 53 if memory is
// exhausted; XX000 if the source of random bytes fails.
void objectid_begin_setting_back();
void objectid_end_setting_back() noexcept;

}  // namespace snowid::pg
