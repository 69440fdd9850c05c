// The statistics of segments and sections, as SQL sees them. Nothing is shared here.
#include "pg/base/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/stats.hpp"

namespace snowid::pg {

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

// snowid.counter_statistics() → SETOF record, see Column
Datum snowid_counter_statistics(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const CounterStats stats = counters_stats();
  for (size_t i = 0; i < stats.count; i++) put_row(result, stats.all[i]);
  PG_RETURN_NULL();
}
}
