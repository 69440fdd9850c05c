// Counting and logging events. See events.hpp.
#include "pg/ids/events.hpp"

#include "pg/clock.hpp"
#include "pg/types/layout.hpp"

namespace snowid::pg {

namespace {

// Whether to log an event now. It goes by a clock that cannot be set, since events are about the
// one that can.
bool may_log_event(EventKind kind, int64 every_us = log_every_us()) noexcept {
  return may_log(&shared_database->logged_us[static_cast<int>(kind)], every_us);
}

// "shard 1 of layout "instagram"", in the current memory context.
const char* name_of(const EventOf& event) {
  if (!event.has_shard) return "a kind of ID without shards";
  return psprintf("shard " UINT64_FORMAT " of layout \"%s\"", event.shard.value,
                  layout_text(event.layout.spec));
}

}  // namespace

void note_wait(const EventOf& event, CountedWait* wait, int64 waited_us, core::UnixMicros next) {
  EventCounts* counts = &shared_database->events;
  if (!wait->is_counted) counts->waits.fetch_add(1, std::memory_order_relaxed);
  counts->waits_us.fetch_add(waited_us - wait->counted_us, std::memory_order_relaxed);
  wait->is_counted = true;
  wait->counted_us = waited_us;
  if (waited_us < kLongWaitUs || wait->is_logged) return;
  wait->is_logged = true;
  if (may_log_event(EventKind::kLongWait))
    ereport(LOG_SERVER_ONLY,
            (errmsg("a caller has waited for the clock for %s", span_text(waited_us)),
             errdetail("The next ID of %s is %s ahead of the clock.", name_of(event),
                       span_text(std::max(next.value - unix_now().value, int64{0})))));
}

void note_refusal(const EventOf& event, const char* reason) {
  const uint64 count = shared_database->events.refusals.fetch_add(1, std::memory_order_relaxed) + 1;
  if (may_log_event(EventKind::kRefusal))
    ereport(LOG_SERVER_ONLY,
            (errmsg("a caller was refused an ID of %s", name_of(event)),
             errdetail("%s Refused in this database so far: " UINT64_FORMAT ".", reason, count)));
}

void note_end(const core::Layout& layout) {
  if (may_log_event(EventKind::kLayoutEnds, log_daily_us()))
    ereport(
        LOG_SERVER_ONLY,
        (errmsg("the time of ID layout \"%s\" is used up within a year", layout_text(layout.spec)),
         errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
         errhint("Move to another layout before then.")));
}

void note_lead(int64 lead_us) {
  std::atomic<int64_t>& max_lead_us = shared_database->events.max_lead_us;
  int64_t most = max_lead_us.load(std::memory_order_relaxed);
  while (most < lead_us &&
         !max_lead_us.compare_exchange_weak(most, lead_us, std::memory_order_relaxed)) {
  }
}

void note_clock() {
  std::atomic<int64_t>& clock_us = shared_database->clock_us;
  // Read before the clock, or a session that is held up in between would take the time that others
  // have seen meanwhile for a later one.
  int64_t seen = clock_us.load(std::memory_order_acquire);
  const core::UnixMicros now = unix_now();
  // Not stored each time: every session reads it.
  if (now.value <= seen + kClockNoiseUs && now.value >= seen - kClockNoiseUs) return;
  const bool is_back = now.value < seen;
  // Where the exchange fails, another session has seen the same, and counts it.
  if (!clock_us.compare_exchange_strong(seen, now.value, std::memory_order_acq_rel)) return;
  if (!is_back) return;
  shared_database->events.clock_steps_back.fetch_add(1, std::memory_order_relaxed);
  if (may_log_event(EventKind::kClockSetBack))
    ereport(LOG_SERVER_ONLY,
            (errmsg("the clock was set back by %s or more", span_text(seen - now.value)),
             errdetail("It was at %s, and is at %s. IDs go on above those that were issued.",
                       moment_text({seen}), moment_text(now))));
}

}  // namespace snowid::pg
