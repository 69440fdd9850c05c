// Reading and zeroing what segments and sections count. See stats.hpp.
//
// Shared: the entries, each looked at with its partition locked in shared mode, so that it is not
// deleted meanwhile. What is read are atomics, so nobody waits, and one may be a moment ahead of
// another.
#include "pg/counters/stats.hpp"

#include "pg/base/clock.hpp"
#include "pg/counters/counter.hpp"

namespace snowid::pg {

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
  const uint64 given = core::Given(segment->numbers);
  const uint64 before = load_count(segment->given_before);
  stat->given = given - std::min(before, given);
  copy_known(stat, segment->known);
  if (stat->is_known) stat->remaining = core::Left(segment->numbers);
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
  segment->given_before.store(core::Given(segment->numbers), std::memory_order_relaxed);
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

}  // namespace snowid::pg
