// Shared: the entries, each looked at with its partition locked in shared mode, so that it is not
// deleted meanwhile. What is read are atomics, so nobody waits, and one may be a moment ahead of
// another.
#include "pg/counters/counter_stats.hpp"

#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/session_counter.hpp"
#include "pg/ids/id_stats.hpp"

namespace snowid::pg {

namespace {

constexpr double as_milliseconds(uint64_t us) noexcept { return static_cast<double>(us) / 1000; }

}  // namespace

int64 count_refill(RefillCounts* counts, instr_time began) noexcept {
  const int64 took_us = elapsed_us(began);
  const uint64_t us = static_cast<uint64_t>(std::max<int64>(took_us, 0));
  counts->refills.fetch_add(1, std::memory_order_relaxed);
  counts->total_us.fetch_add(us, std::memory_order_relaxed);
  if (us > counts->longest_us.load(std::memory_order_relaxed))
    counts->longest_us.store(us, std::memory_order_relaxed);
  return took_us;
}

void log_if_slow(RefillCounts* counts, Oid relid, int64 took_us) {
  if (took_us < kLongWaitUs || !may_log(&counts->logged_us)) return;
  const uint64_t refills = std::max<uint64_t>(counts->refills.load(std::memory_order_relaxed), 1);
  const double total_ms = as_milliseconds(counts->total_us.load(std::memory_order_relaxed));
  // For the log only: the client got its numbers.
  ereport(LOG_SERVER_ONLY,
          (errmsg("refilling sequence \"%s\" took " INT64_FORMAT " ms", get_rel_name(relid),
                  took_us / 1000),
           errdetail("Refills so far: " UINT64_FORMAT ", of %.1f ms on average.", refills,
                     total_ms / static_cast<double>(refills)),
           errhint("Numbers are made durable before they are given out: check the disk that has "
                   "the WAL, synchronous standbys, and the central source, if there is one.")));
}

namespace {

uint64 load_count(const std::atomic<uint64_t>& count) {
  return count.load(std::memory_order_relaxed);
}

// Room for one more, zeroed.
CounterStat* add_to(CounterStats* stats) {
  constexpr size_t kFirst = 64;
  if (stats->all == nullptr) {
    stats->all = static_cast<CounterStat*>(palloc(kFirst * sizeof(CounterStat)));
  } else if (stats->count >= kFirst && (stats->count & (stats->count - 1)) == 0) {
    stats->all = static_cast<CounterStat*>(
        repalloc_huge(stats->all, 2 * stats->count * sizeof(CounterStat)));
  }
  CounterStat* added = &stats->all[stats->count++];
  *added = {};
  return added;
}

void copy_known(CounterStat* stat, const core::Known& known) {
  stat->is_known = known.file.load(std::memory_order_relaxed) != 0;
  stat->last_value = known.after.load(std::memory_order_relaxed);
}

void copy_refills(CounterStat* stat, const RefillCounts& counts) {
  stat->refills = load_count(counts.refills);
  stat->total_us = load_count(counts.total_us);
  stat->longest_us = load_count(counts.longest_us);
}

void add_segment(SharedSegment* segment, void* stats) {
  CounterStat* stat = add_to(static_cast<CounterStats*>(stats));
  stat->relid = segment->key.relid;
  const uint64 given = core::given_by(segment->numbers);
  const uint64 before = load_count(segment->given_before);
  stat->given = given - std::min(before, given);
  copy_known(stat, segment->known);
  if (stat->is_known) stat->remaining = core::left_in(segment->numbers);
  copy_refills(stat, segment->refills);
  stat->block_size = load_count(segment->numbers.size);
  stat->blocks = load_count(segment->blocks);
  stat->failures = load_count(segment->source.failures);
  stat->failed_us = segment->source.failed_us.load(std::memory_order_relaxed);
  stat->sqlstate = static_cast<int>(segment->source.sqlstate.load(std::memory_order_relaxed));
}

void add_section(SharedSection* section, void* stats) {
  CounterStat* stat = add_to(static_cast<CounterStats*>(stats));
  stat->is_section = true;
  stat->relid = section->key.relid;
  stat->given = load_count(section->given);
  copy_known(stat, section->known);
  copy_refills(stat, section->refills);
  stat->block_size = load_count(section->increment);
  stat->blocks = load_count(section->increments);
  stat->keys = load_count(section->keys);
  stat->evictions = load_count(section->evictions);
}

void reset_refills(RefillCounts* counts) {
  counts->refills.store(0, std::memory_order_relaxed);
  counts->total_us.store(0, std::memory_order_relaxed);
  counts->longest_us.store(0, std::memory_order_relaxed);
}

void reset_segment(SharedSegment* segment, void*) {
  segment->given_before.store(core::given_by(segment->numbers), std::memory_order_relaxed);
  reset_refills(&segment->refills);
  segment->source.failures.store(0, std::memory_order_relaxed);
  segment->source.sqlstate.store(0, std::memory_order_relaxed);
}

void reset_section(SharedSection* section, void*) {
  section->given.store(0, std::memory_order_relaxed);
  section->evictions.store(0, std::memory_order_relaxed);
  reset_refills(&section->refills);
}

}  // namespace

CounterStats counters_stats() {
  CounterStats stats{};
  counter_flush_counts();
  segments_each(add_segment, &stats);
  sections_each(add_section, &stats);
  return stats;
}

void counters_reset_counts() {
  counter_flush_counts();
  segments_each(reset_segment, nullptr);
  sections_each(reset_section, nullptr);
}

namespace {

// The columns of snowid.counter_statistics().
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

Datum number(uint64 value) { return Int64GetDatum(static_cast<int64>(value)); }

Datum milliseconds(uint64 us) { return Float8GetDatum(static_cast<double>(us) / 1000); }

void put_row(ReturnSetInfo* result, const CounterStat& stat) {
  Datum values[kColumns] = {};
  bool nulls[kColumns] = {};
  const auto set = [&](Column column, Datum value, bool is_null) {
    values[column] = value;
    nulls[column] = is_null;
  };
  const bool is_section = stat.is_section;
  const bool has_failed = stat.sqlstate != 0;
  values[kKind] = CStringGetTextDatum(is_section ? "section" : "segment");
  values[kRelation] = ObjectIdGetDatum(stat.relid);
  values[kGiven] = number(stat.given);
  set(kRemaining, number(stat.remaining), is_section);
  set(kLastValue, Int64GetDatum(stat.last_value), !stat.is_known);
  values[kRefills] = number(stat.refills);
  values[kRefillTime] = milliseconds(stat.total_us);
  values[kMaxRefillTime] = milliseconds(stat.longest_us);
  values[kBlockSize] = number(stat.block_size);
  values[kBlocks] = number(stat.blocks);
  set(kSourceFailures, number(stat.failures), is_section);
  set(kLastFailure, CStringGetTextDatum(unpack_sql_state(stat.sqlstate)), !has_failed);
  set(kLastFailureAt, TimestampTzGetDatum(to_timestamptz({stat.failed_us})), !has_failed);
  set(kKeys, number(stat.keys), !is_section);
  set(kEvictions, number(stat.evictions), !is_section);
  tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_counter_statistics);
SNOWID_FUNCTION(snowid_stat_reset);

// snowid.counter_statistics() → SETOF record, see Column
Datum snowid_counter_statistics(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const CounterStats stats = counters_stats();
  for (size_t i = 0; i < stats.count; i++) put_row(result, stats.all[i]);
  PG_RETURN_NULL();
}

// snowid_stat_reset() → void: the counts of this database begin anew, those of IDs too.
Datum snowid_stat_reset(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  reset_id_stats();
  counters_reset_counts();
  PG_RETURN_VOID();
}
}
