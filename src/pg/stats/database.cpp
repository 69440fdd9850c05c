// What the view snowid.stat_database shows. Nothing is shared here.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/shmem/bounds.hpp"
#include "pg/stats/id_statistics.hpp"

namespace snowid::pg {

namespace {

// The tables of each family.
constexpr const char* kOfIds[] = {"databases", "slots", "usage of shards", "usage of other shards"};
constexpr const char* kOfKinds[] = {"objectid"};
constexpr const char* kUsageOfKeys = "usage of keys";
constexpr const char* kOfCounters[] = {"segments", "sections", "usage of counters", kUsageOfKeys};

template <size_t count>
int64 memory_of(const char* const (&names)[count]) {
  int64 bytes = 0;
  for (const char* name : names) bytes += table_memory(name);
  return bytes;
}

// The keys of sections, which are no entries of a table.
int64 memory_of_keys() {
  // To look must not make the table.
  if (table_memory(kUsageOfKeys) == 0) return 0;
  Quota keys = make_quota(nullptr, nullptr, kUsageOfKeys);
  quota_attach(&keys);
  return int64{count_of_server(keys)} * int64{sizeof(core::KeyNode)};
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_database_statistics);

// snowid.database_statistics() → (ceiling timestamptz, ceiling_raises bigint, wal_flushes bigint,
// wal_flush_time double precision, waits bigint, wait_time double precision, refusals bigint,
// clock_steps_back bigint, max_lead double precision, ids_memory bigint, kinds_memory bigint,
// counters_memory bigint, total_memory bigint, stats_reset timestamptz)
Datum snowid_database_statistics(PG_FUNCTION_ARGS) {
  TupleDesc columns;
  if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE)
    elog(ERROR, "return type must be a row type");
  const core::UnixMicros ceiling = micros_of(ceiling_read().ceiling);
  const DatabaseStatistics counts = read_database_statistics();
  const int64 total = area_size(shared_area);
  const auto millis = [](int64 us) { return Float8GetDatum(static_cast<double>(us) / 1000); };
  const auto count = [](uint64 n) { return Int64GetDatum(static_cast<int64>(n)); };
  Datum values[] = {TimestampTzGetDatum(to_timestamptz(ceiling)),
                    count(counts.raises),
                    count(counts.flushes),
                    millis(counts.flushes_us),
                    count(counts.waits),
                    millis(counts.waits_us),
                    count(counts.refusals),
                    count(counts.clock_steps_back),
                    millis(counts.max_lead_us),
                    Int64GetDatum(memory_of(kOfIds)),
                    Int64GetDatum(memory_of(kOfKinds)),
                    Int64GetDatum(memory_of(kOfCounters) + memory_of_keys()),
                    Int64GetDatum(total),
                    TimestampTzGetDatum(to_timestamptz(counts.reset))};
  bool nulls[lengthof(values)] = {};
  nulls[0] = ceiling.value == 0;
  nulls[12] = total < 0;
  nulls[13] = counts.reset.value == 0;
  PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}
}
