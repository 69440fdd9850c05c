#include "pg/ids/id_stats.hpp"

#include "pg/ceiling/ceiling.hpp"
#include "pg/clock.hpp"
#include "pg/ids/session_cache.hpp"
#include "pg/ids/shards.hpp"
#include "pg/shmem/bounds.hpp"
#include "pg/types/layout.hpp"

namespace snowid::pg {

namespace {

const char* name_of(const EventOf& event) {
  if (!event.has_shard) return "a kind of ID without shards";
  return psprintf("shard " UINT64_FORMAT " of layout \"%s\"", event.shard.value,
                  layout_text(event.layout.spec));
}

struct ShardStats {
  SlotKey key;
  core::Tick last;  // see Slot
  uint64 issued;
};

Datum millis_datum(int64 us) { return Float8GetDatum(static_cast<double>(us) / 1000); }

void put_shard(FunctionCallInfo fcinfo, ShardStats* shard, const core::Layout& layout) {
  // Whether the last tick was an ID: the counts include one, and the slot is open.
  const bool has_last = shard->issued > 0 && (shard->last != end_of(layout) || is_used_up(layout));
  Datum values[] = {PointerGetDatum(&shard->key.layout),
                    Int64GetDatum(static_cast<int64>(shard->key.shard)),
                    Int64GetDatum(static_cast<int64>(shard->issued)),
                    Int64GetDatum(id_of(layout, {shard->key.shard}, shard->last).value)};
  bool nulls[lengthof(values)] = {false, false, false, !has_last};
  put_row(fcinfo, values, nulls);
}

constexpr const char* kUsageOfKeys = "usage of keys";

int64 memory_of(std::initializer_list<const char*> tables) {
  int64 bytes = 0;
  for (const char* table : tables) bytes += table_memory(table);
  return bytes;
}

// Keys of sections are not in tables of the directory.
int64 memory_of_keys() {
  // Reading must not create the table.
  if (table_memory(kUsageOfKeys) == 0) return 0;
  Quota keys = make_quota(nullptr, kUsageOfKeys);
  quota_attach(&keys);
  constexpr int64 kSlotSize = 24;  // core::KeySlot
  return keys.server->key_slots.load(std::memory_order_relaxed) * kSlotSize;
}

}  // namespace

void note_wait(const EventOf& event, ClockWait* wait, core::UnixMicros next) {
  const int64 waited_us = elapsed_us(wait->since);
  if (!wait->is_counted) tally(kWaits);
  tally(kWaitUs, waited_us - wait->counted_us);
  wait->is_counted = true;
  wait->counted_us = waited_us;
  if (waited_us < kLongWaitUs || wait->is_logged) return;
  wait->is_logged = true;
  if (may_log(&shared_database->logged_us[kLoggedWait]))
    ereport(LOG_SERVER_ONLY,
            errmsg("a caller has waited for the clock for %s", span_text(waited_us)),
            errdetail("The next ID of %s is %s ahead of the clock.", name_of(event),
                      span_text(std::max(next.value - unix_now().value, int64{0}))));
}

void note_refusal(const EventOf& event, const char* reason) {
  const int64 errors = tally(kErrors);
  if (may_log(&shared_database->logged_us[kLoggedRefusal]))
    ereport(LOG_SERVER_ONLY, errmsg("a caller got an error instead of an ID of %s", name_of(event)),
            errdetail("%s Errors in this database so far: " INT64_FORMAT ".", reason, errors));
}

void note_end(const core::Layout& layout) {
  if (may_log(&shared_database->logged_us[kLoggedEnd], 24 * 60 * log_every_us()))
    ereport(LOG_SERVER_ONLY,
            errmsg("ID layout \"%s\" expires within a year", layout_text(layout.spec)),
            errdetail("Its last IDs are those before %s.", moment_text(layout.end)),
            errhint("Move to another layout before then."));
}

void note_clock() {
  constexpr int64 kClockNoiseUs = 5000;
  std::atomic<int64_t>& clock_us = shared_database->clock_us;
  // Before the clock: another session may store a later time in between.
  int64_t seen = clock_us.load(std::memory_order_acquire);
  const core::UnixMicros now = unix_now();
  // Rarely stored, because every session reads it.
  if (now.value <= seen + kClockNoiseUs && now.value >= seen - kClockNoiseUs) return;
  const bool is_back = now.value < seen;
  // If the exchange fails, another session has seen the same, and counts it.
  if (!clock_us.compare_exchange_strong(seen, now.value, std::memory_order_acq_rel)) return;
  if (!is_back) return;
  tally(kBackwardSteps);
  if (may_log(&shared_database->logged_us[kLoggedStep]))
    ereport(LOG_SERVER_ONLY,
            errmsg("the clock moved backward by %s or more", span_text(seen - now.value)),
            errdetail("It was at %s, and is at %s. New IDs continue above the issued ones.",
                      moment_text({seen}), moment_text(now)));
}

void reset_id_stats() {
  slots_attach();
  counts_flush();
  for_each_slot([](Slot* slot, const core::Layout&) { forget_issued(slot); });
  for (auto& value : shared_database->counts) value.store(0, std::memory_order_relaxed);
  shared_database->reset_us.store(unix_now().value, std::memory_order_relaxed);
}

SNOWID_FUNCTION(snowid_shard_statistics) {
  InitMaterializedSRF(fcinfo, 0);
  slots_attach();
  counts_flush();
  // No memory can be allocated under a partition's lock. Slots beyond the room are omitted.
  const uint64 room = slots.entries->load(std::memory_order_relaxed) + 64;
  auto* shards = static_cast<ShardStats*>(
      MemoryContextAllocHuge(CurrentMemoryContext, room * sizeof(ShardStats)));
  uint64 count = 0;
  for_each_slot([&](const Slot* slot, const core::Layout&) {
    if (count < room)
      shards[count++] = {
          slot->key, {slot->last_tick.load(std::memory_order_acquire)}, issued_by(slot)};
  });
  core::Layout layout = core::kInstagram;
  for (uint64 i = 0; i < count; i++) {
    CHECK_FOR_INTERRUPTS();
    ShardStats* shard = &shards[i];
    if (!(shard->key.layout == layout.spec)) layout = core::make_layout(shard->key.layout);
    put_shard(fcinfo, shard, layout);
  }
  PG_RETURN_NULL();
}

SNOWID_FUNCTION(snowid_database_statistics) {
  const core::UnixMicros ceiling = micros_of(ceiling_read().ceiling);
  slots_attach();
  const auto counted = [](Count what) {
    return shared_database->counts[what].load(std::memory_order_relaxed);
  };
  const core::UnixMicros reset{shared_database->reset_us.load(std::memory_order_relaxed)};
  const int64 ids = memory_of({"databases", "slots", "usage of shards", "usage of other shards"});
  const int64 counters = memory_of({"segments", "sections", "usage of counters", kUsageOfKeys});
  const int64 total = area_size(shared_area);
  Datum values[] = {TimestampTzGetDatum(to_timestamptz(ceiling)),
                    Int64GetDatum(counted(kRaises)),
                    Int64GetDatum(counted(kFlushes)),
                    millis_datum(counted(kFlushUs)),
                    Int64GetDatum(counted(kWaits)),
                    millis_datum(counted(kWaitUs)),
                    Int64GetDatum(counted(kErrors)),
                    Int64GetDatum(counted(kBackwardSteps)),
                    millis_datum(counted(kMaxLeadUs)),
                    Int64GetDatum(ids),
                    Int64GetDatum(table_memory("objectid")),
                    Int64GetDatum(counters + memory_of_keys()),
                    Int64GetDatum(total),
                    TimestampTzGetDatum(to_timestamptz(reset))};
  bool nulls[lengthof(values)] = {};
  nulls[0] = ceiling.value == 0;
  nulls[12] = total < 0;
  nulls[13] = reset.value == 0;
  return row_datum(fcinfo, values, nulls);
}

}  // namespace snowid::pg
