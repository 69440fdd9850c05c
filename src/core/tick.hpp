// The tick: issues one shard's IDs, in order and without repeats, to any number of processes.
//
// Shared: a tick word is a std::atomic<uint64_t>, the last tick issued. take() and raise_to() raise
// it by compare-and-swap, close_tick() by an exchange, without a lock. Two functions lower it:
// open_tick(), on a closed word, by one process at a time; snowid.return_to_clock(), by
// compare-and-swap (pg/ceiling/skipped_times.cpp). The clock is an argument. It may jump, stand
// still, or differ between callers, and still no tick is issued twice.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<int64_t>::is_always_lock_free);

// The tick of a time, 0 to max_time + 1, and a sequence; and the reverse.
constexpr Tick make_tick(const Layout& layout, Time time, Sequence sequence) noexcept {
  return {(static_cast<uint64_t>(time.value) << layout.seq_bits) | sequence.value};
}
constexpr Time time_of(const Layout& layout, Tick tick) noexcept {
  return {static_cast<int64_t>(tick.value >> layout.seq_bits)};
}
constexpr Sequence sequence_of(const Layout& layout, Tick tick) noexcept {
  return {tick.value & layout.max_sequence.value};
}
constexpr Id id_of(const Layout& layout, Shard shard, Tick tick) noexcept {
  return compose(layout, {time_of(layout, tick), shard, sequence_of(layout, tick)});
}

// The last tick: the layout is exhausted, or the word is closed.
constexpr Tick end_of(const Layout& layout) noexcept {
  return make_tick(layout, layout.max_time, layout.max_sequence);
}

// The last tick of the unit that holds `moment`: the start of a shard that may have used every time
// up to `moment`. Tick 0 before the layout's epoch.
constexpr Tick last_tick_at(const Layout& layout, UnixMicros moment) noexcept {
  const Time time = time_at(layout, moment);
  if (time.value < 0) return {0};
  if (time > layout.max_time) return end_of(layout);
  return make_tick(layout, time, layout.max_sequence);
}

// The last tick of the last unit ended at `moment`. Tick 0 before the layout's epoch.
constexpr Tick last_tick_before(const Layout& layout, UnixMicros moment) noexcept {
  const Time time = time_at(layout, moment);
  if (time.value < 1) return {0};
  return make_tick(layout, {time.value - 1}, layout.max_sequence);
}

// The least tick above which all IDs of `shard` exceed the ID with these parts; 0 if that is before
// the first. Requires: time_is_first, or there may be no such tick.
constexpr Tick tick_below(const Layout& layout, Shard shard, Parts parts) noexcept {
  const Tick same = make_tick(layout, parts.time, parts.sequence);
  if (shard == parts.shard) return same;
  // A shard below the sequence decides among the IDs of one tick; one above, of one unit.
  const bool by_tick = layout.seq_shift > layout.shard_shift;
  if (shard < parts.shard)
    return by_tick ? same : make_tick(layout, parts.time, layout.max_sequence);
  const Tick first = by_tick ? same : make_tick(layout, parts.time, {0});
  return {first.value - (first.value > 0 ? 1 : 0)};
}

// How the ticks of one take() lie.
enum class Span : uint8_t {
  kAny,      // consecutive, across units; fewer than wanted if the limit comes first
  kOneUnit,  // consecutive in one unit, so their sequences are, too
};

// The first tick after `last` with the clock in unit `now`.
constexpr Tick first_tick(const Layout& layout, Tick last, Time now, uint32_t want,
                          Span span) noexcept {
  const bool fresh = now > time_of(layout, last);
  const Tick next{last.value + 1};
  const Sequence fresh_sequence = layout.sequence_goes_on ? sequence_of(layout, next) : Sequence{0};
  const Tick first = fresh ? make_tick(layout, now, fresh_sequence) : next;
  if (span == Span::kAny ||
      sequence_of(layout, first).value + want <= layout.max_sequence.value + 1)
    return first;
  // The rest of the unit is too short. A fresh unit is unused: start it at 0.
  const Time unit = fresh ? now : Time{time_of(layout, last).value + 1};
  return make_tick(layout, unit, {0});
}

// Ticks first to first + count - 1. If count is 0, `first` is the tick beyond the limit.
struct Grant {
  Tick first;
  uint32_t count;
};

// Takes up to `want` consecutive ticks, none in a unit that begins after `limit`, and none past the
// layout's last. want: at least 1; for Span::kOneUnit at most the sequences of one unit.
inline Grant take(std::atomic<uint64_t>& last_tick, const Layout& layout, Time now,
                  UnixMicros limit, uint32_t want, Span span = Span::kAny) noexcept {
  if (limit > layout.last_start) limit = layout.last_start;
  uint64_t last = last_tick.load(std::memory_order_relaxed);
  for (;;) {
    const Tick first = first_tick(layout, {last}, now, want, span);
    if (start_of(layout, time_of(layout, first)) > limit) return {first, 0};
    Tick end{first.value + want - 1};
    if (want > 1) {
      const Tick last_allowed = last_tick_at(layout, limit);
      if (end > last_allowed) end = last_allowed;
    }
    if (last_tick.compare_exchange_weak(last, end.value, std::memory_order_acq_rel,
                                        std::memory_order_relaxed))
      return {first, static_cast<uint32_t>(end.value - first.value + 1)};
  }
}

// Raises the word to `floor`, unless it is higher: later ticks are above `floor`.
inline void raise_to(std::atomic<uint64_t>& last_tick, Tick floor) noexcept {
  uint64_t last = last_tick.load(std::memory_order_relaxed);
  while (last < floor.value &&
         !last_tick.compare_exchange_weak(last, floor.value, std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
  }
}

// Closes the word: no tick is issued from here on, and raise_to has no effect. Returns the last
// tick issued, or end_of() if the layout was exhausted or the word closed.
inline Tick close_tick(std::atomic<uint64_t>& last_tick, const Layout& layout) noexcept {
  return {last_tick.exchange(end_of(layout).value, std::memory_order_acq_rel)};
}

// Opens a closed word for ticks above `last`. Requires: `last` exceeds the result of close_tick(),
// which makes a take() that read the word before it was closed fail.
inline void open_tick(std::atomic<uint64_t>& last_tick, Tick last) noexcept {
  last_tick.store(last.value, std::memory_order_release);
}

}  // namespace snowid::core
