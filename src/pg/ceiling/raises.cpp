// Counting raises, and logging slow ones. See raises.hpp.
#include "pg/ceiling/raises.hpp"

#include "pg/ceiling/state.hpp"
#include "pg/clock.hpp"

namespace snowid::pg {

namespace {

// How long this session has last waited for a ceiling to be flushed; 0 where that was logged or
// need not be.
int64 last_flush_us = 0;

}  // namespace

void note_raise() noexcept { raise_counts->raises.fetch_add(1, std::memory_order_relaxed); }

void note_flush(instr_time since) noexcept {
  last_flush_us = elapsed_us(since);
  raise_counts->flushes.fetch_add(1, std::memory_order_relaxed);
  raise_counts->flushes_us.fetch_add(last_flush_us, std::memory_order_relaxed);
}

void log_slow_flush() {
  const int64 took_us = last_flush_us;
  last_flush_us = 0;
  if (took_us >= kLongWaitUs && may_log(&raise_counts->logged_us))
    ereport(LOG_SERVER_ONLY,
            (errmsg("raising the ceiling of IDs took " INT64_FORMAT " ms", to_millis(took_us)),
             errdetail("That is how long its WAL record took to be flushed, here and on "
                       "synchronous standbys.")));
}

}  // namespace snowid::pg
