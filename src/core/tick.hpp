// The tick: how one shard's IDs are taken, in order and without a repeat, by any number of
// processes.
//
// Shared: a tick word is a std::atomic<uint64_t>, the last tick issued. take() and raise_to() move
// it up by compare-and-swap, close_tick() by an exchange. None of them needs a lock. Only two
// functions lower it: open_tick(), for a closed word, by one process at a time; and
// snowid.return_to_clock(), by compare-and-swap (pg/ceiling/skipped_times.cpp). The clock is an
// argument. It may jump, stand still or differ between callers, and still no tick is issued twice.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<int64_t>::is_always_lock_free);

// The tick of a time, from 0 to max_time + 1, and a sequence; and the reverse.
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

// The last tick of all. After it nothing is issued: the layout is exhausted, or the word is closed.
constexpr Tick end_of(const Layout& layout) noexcept {
  return make_tick(layout, layout.max_time, layout.max_sequence);
}

// The last tick of the unit that holds `moment`: the start of a shard if every time up to `moment`
// may have been used. Tick 0 if that is before the layout's epoch.
constexpr Tick last_tick_at(const Layout& layout, UnixMicros moment) noexcept {
  const Time time = time_at(layout, moment);
  if (time.value < 0) return {0};
  if (time > layout.max_time) return end_of(layout);
  return make_tick(layout, time, layout.max_sequence);
}

// The last tick of the last unit that has ended at `moment`. Tick 0 if that is before the layout's
// epoch.
constexpr Tick last_tick_before(const Layout& layout, UnixMicros moment) noexcept {
  const Time time = time_at(layout, moment);
  if (time.value < 1) return {0};
  return make_tick(layout, {time.value - 1}, layout.max_sequence);
}

// The least tick above which all IDs of this shard are greater than the one with these parts, which
// may be another shard's; tick 0 if that is before the first. Requires: the layout's time is its
// first field (time_is_first), or there need not be such a tick.
constexpr Tick tick_below(const Layout& layout, Shard shard, Parts parts) noexcept {
  const Tick same = make_tick(layout, parts.time, parts.sequence);
  if (shard == parts.shard) return same;
  // If the shard comes after the sequence, it decides among the IDs of one tick; else among those
  // of one unit of time.
  const bool by_tick = layout.seq_shift > layout.shard_shift;
  if (shard < parts.shard)
    return by_tick ? same : make_tick(layout, parts.time, layout.max_sequence);
  const Tick first = by_tick ? same : make_tick(layout, parts.time, {0});
  return {first.value - (first.value > 0 ? 1 : 0)};
}

// How the ticks of one take() may lie.
enum class Span : uint8_t {
  kAny,      // consecutive, rolling into the next unit if the sequence is full; fewer than wanted
             // if the limit comes first
  kOneUnit,  // all of them in one unit: their sequences are consecutive numbers
};

// The first tick that comes after `last` when the clock is in unit `now`. If the layout's sequence
// goes on from one unit to the next, within a unit it still only grows.
constexpr Tick first_tick(const Layout& layout, Tick last, Time now, uint32_t want,
                          Span span) noexcept {
  const bool fresh = now > time_of(layout, last);
  const Tick next{last.value + 1};
  const Sequence fresh_sequence = layout.sequence_goes_on ? sequence_of(layout, next) : Sequence{0};
  const Tick first = fresh ? make_tick(layout, now, fresh_sequence) : next;
  if (span == Span::kAny ||
      sequence_of(layout, first).value + want <= layout.max_sequence.value + 1)
    return first;
  // The rest of the unit is too short. A fresh one is unused: start it at 0.
  const Time unit = fresh ? now : Time{time_of(layout, last).value + 1};
  return make_tick(layout, unit, {0});
}

// The result of take(): ticks first, first + 1, … first + count - 1. If count is 0 nothing was
// taken, and `first` is the tick beyond the limit.
struct Grant {
  Tick first;
  uint32_t count;
};

// Takes up to `want` consecutive ticks after the last one, none of a unit that begins after
// `limit`, and none past the layout's last. want: at least 1; for Span::kOneUnit at most the
// sequences of one unit.
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

// From now on only ticks above `floor` are issued. Leaves a word alone that is past it.
inline void raise_to(std::atomic<uint64_t>& last_tick, Tick floor) noexcept {
  uint64_t last = last_tick.load(std::memory_order_relaxed);
  while (last < floor.value &&
         !last_tick.compare_exchange_weak(last, floor.value, std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
  }
}

// Closes a word: from now on it issues nothing, and raise_to leaves it alone. Returns the last tick
// before, above which nothing was issued; end_of() if there was nothing left to issue.
inline Tick close_tick(std::atomic<uint64_t>& last_tick, const Layout& layout) noexcept {
  return {last_tick.exchange(end_of(layout).value, std::memory_order_acq_rel)};
}

// Opens a closed word, to issue only ticks above `last`. last: greater than the tick returned by
// close_tick(), so a take() that has read the word before it was closed fails its exchange.
inline void open_tick(std::atomic<uint64_t>& last_tick, Tick last) noexcept {
  last_tick.store(last.value, std::memory_order_release);
}

}  // namespace snowid::core
