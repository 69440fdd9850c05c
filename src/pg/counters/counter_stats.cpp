// Statistics of segments and sections: counting refills, and reading and resetting the counts.
//
// Shared: the entries, read with their partition locked in shared mode against deletion. All counts
// are atomics read without waiting; one may be a moment ahead of another.
#include "pg/postgres.hpp"

#include "core/known.hpp"
#include "core/segment.hpp"
#include "core/types.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/ids/id_stats.hpp"
#include "pg/values.hpp"

namespace snowid::pg {

namespace {

constexpr double as_milliseconds(uint64_t us) noexcept { return static_cast<double>(us) / 1000; }

enum Column : int {
  kKind,
  kRelation,
  kGiven,
  kRemaining,
  kLastValue,
  kRefills,
  kRefillTime,
  kMaxRefillTime,
  kBlockSize,
  kBlocks,
  kSourceFailures,
  kLastFailure,
  kLastFailureAt,
  kKeys,
  kEvictions,
  kColumns,
};

uint64 load_count(const std::atomic<uint64_t>& count) noexcept {
  return count.load(std::memory_order_relaxed);
}

Datum number(uint64 value) { return Int64GetDatum(static_cast<int64>(value)); }
Datum number(const std::atomic<uint64_t>& count) { return number(load_count(count)); }
Datum milliseconds(const std::atomic<uint64_t>& us) {
  return Float8GetDatum(as_milliseconds(load_count(us)));
}

struct Row {
  Datum values[kColumns] = {};
  bool nulls[kColumns];

  Row(const char* kind, Oid relid, const core::Known& known, const RefillCounts& refills) {
    memset(nulls, true, sizeof(nulls));
    set(kKind, CStringGetTextDatum(kind));
    set(kRelation, ObjectIdGetDatum(relid));
    if (known.file.load(std::memory_order_relaxed) != 0)
      set(kLastValue, Int64GetDatum(known.after.load(std::memory_order_relaxed)));
    set(kRefills, number(refills.refills));
    set(kRefillTime, milliseconds(refills.total_us));
    set(kMaxRefillTime, milliseconds(refills.longest_us));
  }
  void set(Column column, Datum value) {
    values[column] = value;
    nulls[column] = false;
  }
};

void put_segment(FunctionCallInfo fcinfo, const SharedSegment* segment) {
  Row row("segment", segment->key.relid, segment->known, segment->refills);
  const uint64 given = core::given_by(segment->numbers);
  row.set(kGiven, number(given - std::min(load_count(segment->given_before), given)));
  row.set(kRemaining, number(row.nulls[kLastValue] ? 0 : core::left_in(segment->numbers)));
  row.set(kBlockSize, number(segment->numbers.size));
  row.set(kBlocks, number(segment->blocks));
  const SourceFailures& source = segment->source;
  row.set(kSourceFailures, number(source.failures));
  const int sqlstate = static_cast<int>(source.sqlstate.load(std::memory_order_relaxed));
  if (sqlstate != 0) {
    const core::UnixMicros failed{source.failed_us.load(std::memory_order_relaxed)};
    row.set(kLastFailure, CStringGetTextDatum(unpack_sql_state(sqlstate)));
    row.set(kLastFailureAt, TimestampTzGetDatum(to_timestamptz(failed)));
  }
  put_row(fcinfo, row.values, row.nulls);
}

void put_section(FunctionCallInfo fcinfo, const SharedSection* section) {
  Row row("section", section->key.relid, section->known, section->refills);
  uint64 issued = 0;
  for (const KeyPartition& partition : section->partitions) issued += load_count(partition.issued);
  row.set(kGiven, number(issued));
  row.set(kBlockSize, number(section->increment));
  row.set(kBlocks, number(section->increments));
  row.set(kKeys, number(section->keys));
  row.set(kEvictions, number(section->evictions));
  put_row(fcinfo, row.values, row.nulls);
}

void reset_refills(RefillCounts* counts) {
  counts->refills.store(0, std::memory_order_relaxed);
  counts->total_us.store(0, std::memory_order_relaxed);
  counts->longest_us.store(0, std::memory_order_relaxed);
}

void reset_segment(SharedSegment* segment) {
  segment->given_before.store(core::given_by(segment->numbers), std::memory_order_relaxed);
  reset_refills(&segment->refills);
  segment->source.failures.store(0, std::memory_order_relaxed);
  segment->source.sqlstate.store(0, std::memory_order_relaxed);
}

void reset_section(SharedSection* section) {
  for (KeyPartition& partition : section->partitions)
    partition.issued.store(0, std::memory_order_relaxed);
  section->evictions.store(0, std::memory_order_relaxed);
  reset_refills(&section->refills);
}

template <typename Entry, typename Look>
void for_each(SharedTable* table, const Look& look) {
  table_attach(table);
  dshash_seq_status scan;
  dshash_seq_init(&scan, table->attached, false);
  while (auto* entry = static_cast<Entry*>(dshash_seq_next(&scan)))
    if (entry->key.database == MyDatabaseId) look(entry);
  dshash_seq_term(&scan);
}

}  // namespace

void finish_refill(RefillCounts* counts, Oid relid, instr_time began) {
  const int64 took_us = std::max<int64>(elapsed_us(began), 0);
  const uint64_t us = static_cast<uint64_t>(took_us);
  counts->refills.fetch_add(1, std::memory_order_relaxed);
  counts->total_us.fetch_add(us, std::memory_order_relaxed);
  if (us > counts->longest_us.load(std::memory_order_relaxed))
    counts->longest_us.store(us, std::memory_order_relaxed);
  end_refill();
  if (took_us < kLongWaitUs || !may_log(&counts->logged_us)) return;
  const uint64_t refills = std::max<uint64_t>(counts->refills.load(std::memory_order_relaxed), 1);
  const double total_ms = as_milliseconds(counts->total_us.load(std::memory_order_relaxed));
  // For the log only: the client got its numbers.
  ereport(LOG_SERVER_ONLY,
          errmsg("refilling sequence \"%s\" took " INT64_FORMAT " ms", get_rel_name(relid),
                 took_us / 1000),
          errdetail("Refills so far: " UINT64_FORMAT ", of %.1f ms on average.", refills,
                    total_ms / static_cast<double>(refills)),
          errhint("Numbers are made durable before they are issued: check the disk with the WAL, "
                  "synchronous standbys, and the remote sequence, if there is one."));
}

SNOWID_FUNCTION(snowid_counter_statistics) {
  InitMaterializedSRF(fcinfo, 0);
  for_each<SharedSegment>(&segments, [&](auto* segment) { put_segment(fcinfo, segment); });
  for_each<SharedSection>(&sections, [&](auto* section) { put_section(fcinfo, section); });
  PG_RETURN_NULL();
}

// snowid.reset_stats() → void: also resets the counts of IDs.
SNOWID_FUNCTION(snowid_reset_stats) {
  reset_id_stats();
  for_each<SharedSegment>(&segments, reset_segment);
  for_each<SharedSection>(&sections, reset_section);
  PG_RETURN_VOID();
}

}  // namespace snowid::pg
