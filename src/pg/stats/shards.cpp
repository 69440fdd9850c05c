// What the view snowid.stat_shards shows. Nothing is shared here.
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/stats/id_statistics.hpp"
#include "pg/types/layout.hpp"

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_shard_statistics);

// snowid.shard_statistics() → SETOF (layout snowid_layout, shard bigint, issued bigint, last_id
// bigint, last_time timestamptz, lead double precision, layout_end timestamptz)
Datum snowid_shard_statistics(PG_FUNCTION_ARGS) {
  InitMaterializedSRF(fcinfo, 0);
  auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
  const ShardStatisticsList list = read_shard_statistics();
  const core::UnixMicros now = unix_now();
  const auto count = [](uint64 n) { return Int64GetDatum(static_cast<int64>(n)); };
  for (uint64 i = 0; i < list.count; i++) {
    CHECK_FOR_INTERRUPTS();
    ShardStatistics& shard = list.shards[i];
    const core::Layout& layout = layout_of(shard.key.layout);
    const bool has_last = has_last_id(shard, layout);
    const core::UnixMicros last_time = start_of(layout, time_of(layout, shard.last));
    const int64 lead_us = has_last ? std::max(int64{0}, last_time.value - now.value) : 0;
    Datum values[] = {PointerGetDatum(&shard.key.layout),
                      count(shard.key.shard),
                      count(shard.issued),
                      Int64GetDatum(id_of(layout, {shard.key.shard}, shard.last).value),
                      TimestampTzGetDatum(to_timestamptz(last_time)),
                      Float8GetDatum(static_cast<double>(lead_us) / 1000),
                      TimestampTzGetDatum(to_timestamptz(layout.end))};
    bool nulls[lengthof(values)] = {};
    nulls[3] = nulls[4] = !has_last;
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
  }
  PG_RETURN_NULL();
}
}
