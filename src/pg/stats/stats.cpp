// What statistics have in common: their reset. Nothing is shared here.
#include "pg/compat.hpp"
#include "pg/counters/counter_stats.hpp"
#include "pg/stats/id_statistics.hpp"

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_stat_reset);

// snowid_stat_reset() → void: the counts of this database begin anew.
Datum snowid_stat_reset(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  reset_id_statistics();
  counters_reset_counts();
  PG_RETURN_VOID();
}
}
