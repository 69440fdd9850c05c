// Issuing IDs: the clock, the tick and the ceiling put together. This is the path that every ID
// takes.
//
// issue_one() calls, in this order: require_ceiling(), find_cached() and, for the first ID of a
// shard, cache_shard() (session_cache.hpp); issue(), whose fast path is the clock, a load and a
// compare-and-swap, and issue_slowly() if that takes nothing; remember() and count_one(). The kinds
// of ID that know no shard call common_is_ready(), common_make_ready() and issue_common().
//
// The slow path takes care that no ID gets a skipped time (core/skipped_times.hpp). The fast path
// need not check that: the alert is never later than a day before the first range that slots have
// not been lifted over. Before the clock comes to a range, the first session to ask lifts all slots
// of the database over it.
//
// Shared: the slot's tick, moved as core/tick.hpp describes; my_ceiling->alert_us and
// Database::number, read. The fast path takes no lock; the slow one waits for the clock and raises
// the ceiling.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "core/skipped_times.hpp"
#include "core/tick.hpp"
#include "core/types.hpp"
#include "pg/ceiling/ceiling.hpp"
#include "pg/clock.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/ids/session_cache.hpp"

namespace snowid::pg {

// The settings of IDs: snowid.max_lead and snowid.max_wait, 0 to INT_MAX.
extern int max_lead_ms;
extern int max_wait_ms;
inline constexpr int kDefaultMaxWaitMs = 5000;
inline int64 max_lead_us() { return int64{max_lead_ms} * 1000; }
inline int64 max_wait_us() noexcept { return int64{max_wait_ms} * 1000; }

// snowid.default_shard: 0 or more, or one of the next two.
extern int64 shard_setting;
inline constexpr int64 kOwnNumber = -1;     // this node's own number is wanted
inline constexpr int64 kRefusedShard = -2;  // the value is no shard

// Defines the settings. Called once, when the library is loaded.
void id_settings_register();

// The shard of functions that are given none, as far as this session knows it: 0 or more, or
// kUnresolvedShard; and how often the node's own number had changed when it was resolved. Whether a
// layout can hold it is checked when it is used.
extern int64 default_shard;
inline constexpr int64 kUnresolvedShard = -1;
extern uint64 changes_seen;

// The shard that the setting stands for; used until default_shard_forget(), which never fails, and
// reads no catalog. Defined in nodes/node_number.cpp. Raises: 55000 if there is none, or if a node
// of Citus has a shard set; 22023 if the setting is no shard.
int64 shard_of_setting();
void default_shard_forget();

// 22023: snowid.default_shard was given a value that is no shard.
[[noreturn]] void report_refused_shard();

// The shard of functions that are given none: shard_resolve() if it is not known.
// Raises: as shard_of_setting().
int64 shard_resolve();
inline int64 shard_by_default() {
  const int64 shard = default_shard;
  const bool is_current = changes_of(number_word->load(std::memory_order_relaxed)) == changes_seen;
  return likely(shard >= 0 && is_current) ? shard : shard_resolve();
}

// The clock is too far behind: another try, later, helps. An SQLSTATE of snowid's own: clients can
// distinguish it from errors that waiting does not help with. Classes that begin with I to Z are
// left to implementations, and PostgreSQL's own begin with 5, F, H, P and X.
inline constexpr int kClockBehind = MAKE_SQLSTATE('S', 'N', '0', '0', '1');

// 2200H: the layout has no IDs left.
[[noreturn]] void report_used_up(const core::Layout& layout);

// kClockBehind: an ID or a moment that a caller wants IDs to be above is `ahead_us` ahead of the
// clock. what: "ID" or "moment". wait_ms: how long the caller may wait, 0 if it does not wait.
[[noreturn]] void report_ahead(const char* what, int64 ahead_us, int wait_ms);

// Makes the ceiling known. If the entries in memory may be those of a dropped database, first
// closes the slots of shards that were released here. Raises: what require_can_issue(),
// slots_attach(), close_released() and ceiling_learn() raise: 25006, 25000, 53200, 53100, 55000,
// 0A000, 57014.
void ids_learn_ceiling();
inline void require_ceiling() {
  if (unlikely(!ceiling_known)) ids_learn_ceiling();
}

// A shard in the session's cache, ready to issue IDs. Raises: 22023 if the layout has no such
// shard; 53400 if there are too many shards; and what ids_learn_ceiling() raises.
static pg_attribute_always_inline CachedShard* cached_shard(LayoutCache* cache, int64 shard) {
  require_ceiling();
  CachedShard* cached = find_cached(cache, shard);
  if (unlikely(cached == nullptr)) {
    cached = cache_shard(cache, shard);
    // Making a slot may wait, and take in an invalidation of the ceiling meanwhile.
    require_ceiling();
  }
  return cached;
}

// The slow path of issue(): waits for the clock, raises the ceiling, and takes at least one ID; or
// reports why there is none.
core::Grant issue_slowly(const core::Layout& layout, core::Shard shard, Slot* slot, uint32 want,
                         core::Span span);

// Takes up to `want` IDs of a shard, and at least one. Inlined: a layout that the compiler knows
// costs no division. Requires: the ceiling is known. Raises: 2200H if the layout's time is
// exhausted; 55000 if the shard was released, or the database may issue no IDs; SN001 if the clock
// is too far behind; and what ceiling_raise() raises.
static pg_attribute_always_inline core::Grant issue(const core::Layout& layout, core::Shard shard,
                                                    Slot* slot, uint32 want, core::Span span) {
  // While the clock is read the tick can come from wherever it was used last.
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

// The shard's next ID. layout: the cache's, or equal to it and known to the compiler.
static pg_attribute_always_inline int64 issue_one(LayoutCache* cache, const core::Layout& layout,
                                                  int64 shard) {
  CachedShard* cached = cached_shard(cache, shard);
  const core::Shard valid{static_cast<uint64>(shard)};
  const core::Grant grant = issue(layout, valid, cached->slot, 1, core::Span::kAny);
  const int64 id = id_of(layout, valid, grant.first).value;
  remember(cached, id);
  count_one(cache, cached, shard);
  return id;
}

// How long before a range of skipped times slots are lifted over it, in microseconds. Requires, for
// this and the next one: the ceiling was learned.
inline int64 lift_early_us() noexcept {
  return core::lift_early_by(shared_database->longest_unit_us.load(std::memory_order_acquire));
}

// From when on the lead of IDs counts, at `clock`: see core::lead_begin().
inline core::UnixMicros lead_from_now(core::UnixMicros clock) noexcept {
  return lead_begin(skipped_times(), clock, shared_floor(), lift_early_us());
}

// Sleeps for a while, not beyond `for_us`. Interruptible.
void wait_a_while(int64 for_us);

// Waits until the clock allows IDs with the time `moment`, snowid.max_lead ahead of it. what: "ID"
// or "moment". Raises: SN001, at once, if that takes longer than snowid.max_wait; and what
// ids_learn_ceiling() raises.
void wait_until_allowed(const char* what, core::UnixMicros moment);

// The same as ceiling_lift(), by a session that may not know the ceiling. Raises: what
// ids_learn_ceiling() raises.
void issue_only_above(core::UnixMicros moment);

// A slot that all databases share, as a session sees it.
struct CommonShard {
  Slot* slot;      // nullptr if the session has not used it
  int64 floor_us;  // the database's floor when common_make_ready() was last called
};

// Makes the ceiling known, and returns whether common_make_ready() was called for this one since
// the database's floor was last raised. Raises: as ids_learn_ceiling().
inline bool common_is_ready(const CommonShard& common) {
  require_ceiling();
  return common.slot != nullptr &&
         common.floor_us == my_ceiling->floor_us.load(std::memory_order_acquire);
}

// Makes it ready to issue: its slot is then above this database's floor, and therefore above every
// time that the database may have used. A new slot is also above every time used by any other
// database, if the clock was right. The owner of a database can set its floor, and other databases
// must not wait for it: if it is far ahead of the clock this caller waits, or gets an error, before
// the slot is changed. start: where the sequence begins if the slot is new. Requires:
// common_is_ready() was called. Raises: SN001 if the floor is too far ahead of the clock; class 53
// without memory.
void common_make_ready(const core::Layout& layout, CommonShard* common, core::Sequence start);

// Takes one tick. Requires: common_is_ready(), or common_make_ready() was called. Raises: what
// issue() raises.
static pg_attribute_always_inline core::Tick issue_common(const core::Layout& layout,
                                                          const CommonShard& common) {
  return issue(layout, {0}, common.slot, 1, core::Span::kAny).first;
}

}  // namespace snowid::pg
