// Counting and logging events. See events.hpp.
#include "pg/ids/events.hpp"

#include "pg/base/clock.hpp"
#include "pg/base/layout_type.hpp"
#include "pg/server/subtransaction.hpp"

namespace snowid::pg {

SharedTable shard_events = {
    {"shard events", SNOWID_IDS_ABI, kSlotKeySize, sizeof(ShardEvents), nullptr}, nullptr};

namespace {

// The slot whose entry was looked up last, and the entry.
const Slot* recent_slot = nullptr;
ShardEvents* recent_events = nullptr;

// An entry to be found or made.
struct Wanted {
  const SlotKey& key;
  ShardEvents* found;  // nullptr where there is none
};

void find_events(Wanted* wanted) {
  if (!table_attach_if_there(&shard_events)) return;
  auto* found = static_cast<ShardEvents*>(table_find(shard_events, &wanted->key, false));
  if (found == nullptr) return;
  wanted->found = found;
  table_release(shard_events, found);
}

void make_events(void* argument) {
  auto* wanted = static_cast<Wanted*>(argument);
  table_attach(&shard_events);
  auto* made = static_cast<ShardEvents*>(table_find_or_make(shard_events, &wanted->key, nullptr));
  wanted->found = made;
  table_release(shard_events, made);
}

bool SaysNoMemory(const ErrorData* error) {
  return ERRCODE_TO_CATEGORY(error->sqlerrcode) == ERRCODE_INSUFFICIENT_RESOURCES ||
         error->sqlerrcode == ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
}

// The entry of a slot; nullptr where nothing is to be counted of it, or there is no memory.
ShardEvents* events_of(const Slot* slot) {
  if (!OidIsValid(slot->key.database)) return nullptr;
  if (slot == recent_slot) return recent_events;
  Wanted wanted{slot->key, nullptr};
  find_events(&wanted);
  // In a parallel query no subtransaction can be tried, so an event is counted only if there was
  // one before.
  if (wanted.found == nullptr && !IsInParallelMode()) {
    // An event that cannot be counted must not cost anybody an ID, and dshash raises an error where
    // there is no memory. A subtransaction takes place once for a session and shard, on the slow
    // path.
    ErrorData* error = try_in_subtransaction(make_events, &wanted);
    if (error != nullptr && !SaysNoMemory(error)) ReThrowError(error);
    if (error != nullptr) FreeErrorData(error);
  }
  if (wanted.found == nullptr) return nullptr;
  recent_slot = slot;
  recent_events = wanted.found;
  return recent_events;
}

// Whether to log an event now. It goes by a clock that cannot be set, since events are about the
// one that can.
bool MayLogEvent(EventKind kind) {
  return MayLog(&shared_database->logged_us[static_cast<int>(kind)]);
}

// "shard 1 of layout "instagram"", in the current memory context.
const char* name_of(const EventOf& event) {
  if (!OidIsValid(event.slot->key.database)) return "a kind of ID without shards";
  return psprintf("shard " UINT64_FORMAT " of layout \"%s\"", event.shard.value,
                  layout_text(event.layout.spec));
}

}  // namespace

void note_wait(const EventOf& event, CountedWait* wait, int64 waited_us, core::UnixMicros next) {
  ShardEvents* events = events_of(event.slot);
  if (events != nullptr) {
    if (!wait->is_counted) events->waits.fetch_add(1, std::memory_order_relaxed);
    events->waits_us.fetch_add(waited_us - wait->counted_us, std::memory_order_relaxed);
    wait->is_counted = true;
    wait->counted_us = waited_us;
  }
  if (waited_us < kLongWaitUs || wait->is_logged) return;
  wait->is_logged = true;
  if (MayLogEvent(EventKind::kLongWait))
    ereport(LOG_SERVER_ONLY,
            (errmsg("a caller has waited for the clock for %s", span_text(waited_us)),
             errdetail("The next ID of %s is %s ahead of the clock.", name_of(event),
                       span_text(std::max(next.value - unix_now().value, int64{0})))));
}

void note_refusal(const EventOf& event, const char* reason) {
  ShardEvents* events = events_of(event.slot);
  uint64 count = 1;
  if (events != nullptr) count += events->refusals.fetch_add(1, std::memory_order_relaxed);
  if (MayLogEvent(EventKind::kRefusal))
    ereport(LOG_SERVER_ONLY,
            (errmsg("a caller was refused an ID of %s", name_of(event)),
             errdetail("%s Refused by this shard so far: " UINT64_FORMAT ".", reason, count)));
}

void note_end(const core::Layout& layout) {
  if (MayLog(&shared_database->logged_us[static_cast<int>(EventKind::kLayoutEnds)], LogDailyUs()))
    ereport(
        LOG_SERVER_ONLY,
        (errmsg("the time of ID layout \"%s\" is used up within a year", layout_text(layout.spec)),
         errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
         errhint("Move to another layout before then.")));
}

void note_lead(const Slot* slot, int64 lead_us) {
  if (lead_us <= 0) return;
  ShardEvents* events = events_of(slot);
  if (events == nullptr) return;
  int64_t most = events->max_lead_us.load(std::memory_order_relaxed);
  while (most < lead_us &&
         !events->max_lead_us.compare_exchange_weak(most, lead_us, std::memory_order_relaxed)) {
  }
}

void note_clock(const Slot* slot) {
  std::atomic<int64_t>& clock_us = shared_database->clock_us;
  // Read before the clock, or a session that is held up in between would take the time that others
  // have seen meanwhile for a later one.
  int64_t seen = clock_us.load(std::memory_order_acquire);
  const core::UnixMicros now = unix_now();
  // Not stored each time: every session reads it.
  if (now.value <= seen + kClockNoiseUs && now.value >= seen - kClockNoiseUs) return;
  const bool is_back = now.value < seen;
  // A session that cannot count it leaves clock_us as it was, for the next one.
  ShardEvents* events = is_back ? events_of(slot) : nullptr;
  if (is_back && events == nullptr) return;
  // Where the exchange fails, another session has seen the same, and counts it.
  if (!clock_us.compare_exchange_strong(seen, now.value, std::memory_order_acq_rel)) return;
  if (!is_back) return;
  events->clock_steps_back.fetch_add(1, std::memory_order_relaxed);
  if (MayLogEvent(EventKind::kClockSetBack))
    ereport(LOG_SERVER_ONLY,
            (errmsg("the clock was set back by %s or more", span_text(seen - now.value)),
             errdetail("It was at %s, and is at %s. IDs go on above those that were issued.",
                       moment_text({seen}), moment_text(now))));
}

void ForgetEvents() {
  recent_slot = nullptr;
  recent_events = nullptr;
}

}  // namespace snowid::pg
