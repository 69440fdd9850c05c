// A segment: numbers allocated in blocks from a durable source and issued in order to any number of
// processes. Double buffer and adapting step are those of Leaf, Meituan's ID service.
//
// Shared: a Segment is in shared memory. draw() advances `cursor` by compare-and-swap. Only the
// process that refills calls publish() and forget(), concurrently with any number of draw()s.
//
// No lock is needed: positions count the numbers issued or discarded, and only grow. draw() reads
// the number at a position, then advances the cursor from it. A run is overwritten, and the spacing
// changed, only after the cursor has left it forever: a draw() that read old and new fails.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/adapting_step.hpp"
#include "core/known.hpp"

namespace snowid::core {

static_assert(std::atomic<uint64_t>::is_always_lock_free);

// Blocks of `size` consecutive numbers, `increment` apart. 1 <= size <= increment.
struct Spacing {
  uint64_t size;
  uint64_t increment;
  friend constexpr bool operator==(const Spacing&, const Spacing&) = default;
};

// The number at this offset in blocks that begin at `first`. Requires: it fits a bigint.
constexpr int64_t number_at(int64_t first, Spacing spacing, uint64_t offset) noexcept {
  // Modulo 2^64, because the distance of two bigints can exceed 2^63.
  uint64_t distance = offset;
  if (spacing.size != spacing.increment)
    distance = offset / spacing.size * spacing.increment + offset % spacing.size;
  return static_cast<int64_t>(static_cast<uint64_t>(first) + distance);
}

// How many numbers of the blocks from `first` on are not above `max`.
constexpr uint64_t count_up_to(int64_t first, Spacing spacing, uint64_t blocks,
                               int64_t max) noexcept {
  if (first > max) return 0;
  const uint64_t room = static_cast<uint64_t>(max) - static_cast<uint64_t>(first);
  const uint64_t whole = room / spacing.increment;
  if (whole >= blocks) return blocks * spacing.size;
  return whole * spacing.size + std::min(room % spacing.increment + 1, spacing.size);
}

// Numbers allocated at once, at positions `begin` to `end` - 1.
struct Run {
  std::atomic<uint64_t> begin;
  std::atomic<uint64_t> end;
  std::atomic<int64_t> first;
};

// Zeroed, it is empty.
struct Segment {
  std::atomic<uint64_t> cursor;  // the position of the next number
  std::atomic<uint64_t> alert;   // from here on, is_low is returned
  std::atomic<uint64_t> size;    // the spacing of both runs
  std::atomic<uint64_t> increment;
  Run runs[2];
  // Twice the number of positions discarded, plus one while forget() runs.
  std::atomic<uint64_t> given_up;
};

// `count` consecutive numbers from `first` on, 0 if the segment is empty.
struct Drawn {
  int64_t first;
  uint32_t count;
  bool is_low;  // it is time to refill
};

// Issues up to `want` numbers, at least 1: consecutive, and after all numbers issued before.
inline Drawn draw(Segment& segment, uint32_t want) noexcept {
  uint64_t at = segment.cursor.load(std::memory_order_acquire);
  for (;;) {
    Run* run = segment.runs;
    uint64_t end = run->end.load(std::memory_order_acquire);
    if (at >= end || at < run->begin.load(std::memory_order_acquire)) {
      run++;
      end = run->end.load(std::memory_order_acquire);
    }
    const uint64_t begin = run->begin.load(std::memory_order_acquire);
    if (at >= end || at < begin) {
      const uint64_t seen = at;
      at = segment.cursor.load(std::memory_order_acquire);
      if (at == seen) return {0, 0, true};
      continue;
    }
    const Spacing spacing{segment.size.load(std::memory_order_relaxed),
                          segment.increment.load(std::memory_order_relaxed)};
    const int64_t first = run->first.load(std::memory_order_relaxed);
    uint64_t count = std::min<uint64_t>(want, end - at);
    if (spacing.size != spacing.increment)
      count = std::min(count, spacing.size - (at - begin) % spacing.size);
    if (segment.cursor.compare_exchange_weak(at, at + count, std::memory_order_acq_rel,
                                             std::memory_order_acquire))
      return {number_at(first, spacing, at - begin), static_cast<uint32_t>(count),
              at + count >= segment.alert.load(std::memory_order_relaxed)};
  }
}

inline bool has_numbers(const Segment& segment) noexcept {
  const uint64_t at = segment.cursor.load(std::memory_order_acquire);
  return at < std::max(segment.runs[0].end.load(std::memory_order_acquire),
                       segment.runs[1].end.load(std::memory_order_acquire));
}

// The count of issued numbers. Spins during forget(): a decrease would look like a reset.
inline uint64_t given_by(const Segment& segment) noexcept {
  for (;;) {
    const uint64_t given_up = segment.given_up.load(std::memory_order_acquire);
    const uint64_t at = segment.cursor.load(std::memory_order_acquire);
    if (given_up % 2 == 0 && segment.given_up.load(std::memory_order_relaxed) == given_up)
      return at - given_up / 2;
  }
}

inline uint64_t left_in(const Segment& segment) noexcept {
  const uint64_t end = std::max(segment.runs[0].end.load(std::memory_order_acquire),
                                segment.runs[1].end.load(std::memory_order_acquire));
  const uint64_t at = segment.cursor.load(std::memory_order_acquire);
  return end - std::min(at, end);
}

// Sets *number to the last number issued or discarded. Returns false if unknown. Requires: this
// process refills, without draw()s; a number was issued since the spacing changed.
inline bool last_given(const Segment& segment, int64_t* number) noexcept {
  const uint64_t next = segment.cursor.load(std::memory_order_acquire);
  for (const Run& run : segment.runs) {
    const uint64_t begin = run.begin.load(std::memory_order_relaxed);
    if (next <= begin || next > run.end.load(std::memory_order_relaxed)) continue;
    const Spacing spacing{segment.size.load(std::memory_order_relaxed),
                          segment.increment.load(std::memory_order_relaxed)};
    *number = number_at(run.first.load(std::memory_order_relaxed), spacing, next - 1 - begin);
    return true;
  }
  return false;
}

// Sets *first to the least number at which the next block may begin: nextval's. If the storage has
// changed since the last refill and the value has not, ALTER SEQUENCE may have made INCREMENT
// smaller; then also above all issued numbers. Returns false if it would exceed bigint. file: the
// storage. Requires: as last_given().
inline bool find_first(const Segment& segment, const Known& known, uint32_t file,
                       const SequenceValue& value, int64_t increment, int64_t* first) noexcept {
  if (!next_number(value, increment, first)) return false;
  const uint32_t known_file = known.file.load();
  const bool is_altered = known_file != 0 && known_file != file &&
                          value.last == known.after.load() &&
                          value.is_called == known.is_called.load();
  int64_t given;
  if (!is_altered || !last_given(segment, &given) || given < *first) return true;
  return !__builtin_add_overflow(given, 1, first);
}

inline bool is_running_low(const Segment& segment) noexcept {
  return segment.cursor.load(std::memory_order_acquire) >=
         segment.alert.load(std::memory_order_relaxed);
}

// Whether another run can be published: one of the two is exhausted.
inline bool has_room(const Segment& segment) noexcept {
  return segment.cursor.load(std::memory_order_acquire) >=
         std::min(segment.runs[0].end.load(std::memory_order_relaxed),
                  segment.runs[1].end.load(std::memory_order_relaxed));
}

// Discards all numbers left. Requires: this process refills.
inline void forget(Segment& segment) noexcept {
  const uint64_t end = std::max(segment.runs[0].end.load(std::memory_order_relaxed),
                                segment.runs[1].end.load(std::memory_order_relaxed));
  const uint64_t given_up = segment.given_up.load(std::memory_order_relaxed);
  segment.given_up.store(given_up + 1, std::memory_order_relaxed);
  const uint64_t at = segment.cursor.exchange(end, std::memory_order_acq_rel);
  segment.given_up.store(given_up + 2 * (end - at), std::memory_order_release);
  segment.alert.store(0, std::memory_order_relaxed);
}

// Appends `count` numbers, 1 to kMostAtOnce, from `first` on. Requires: this process refills; the
// numbers are durable; has_room(); if numbers are left, their spacing is the same.
inline void publish(Segment& segment, int64_t first, uint64_t count, Spacing spacing) noexcept {
  const uint64_t end0 = segment.runs[0].end.load(std::memory_order_relaxed);
  const uint64_t end1 = segment.runs[1].end.load(std::memory_order_relaxed);
  const uint64_t begin = std::max(end0, end1);
  Run& run = segment.runs[end0 <= end1 ? 0 : 1];
  segment.size.store(spacing.size, std::memory_order_relaxed);
  segment.increment.store(spacing.increment, std::memory_order_relaxed);
  run.first.store(first, std::memory_order_relaxed);
  run.begin.store(begin, std::memory_order_release);
  // Leaf fetches the next run when a tenth is used.
  segment.alert.store(begin + (count + 9) / 10, std::memory_order_relaxed);
  run.end.store(begin + count, std::memory_order_release);
}

// The most numbers of one publish(): positions never overflow.
inline constexpr uint64_t kMostAtOnce = uint64_t{1} << 36;

// Disables is_low: the source is (nearly) exhausted. Requires: this process refills.
inline void stop_alert(Segment& segment) noexcept {
  segment.alert.store(UINT64_MAX, std::memory_order_relaxed);
}

// A restart, or a change of the sequence, skips the numbers in memory. At most this part of the
// numbers issued so far, and of those left up to the maximum, is therefore allocated at once.
inline constexpr uint64_t kPart = 16;

// The number of blocks of `size` to allocate: the adapting step, at most the part of the numbers
// issued, at least 1, and enough for `want`.
constexpr uint64_t blocks_within(uint64_t blocks, uint64_t size, uint64_t issued,
                                 uint64_t want) noexcept {
  return std::max({uint64_t{1}, std::min(blocks, issued / kPart / size), (want + size - 1) / size});
}

struct Raise {
  uint64_t increments;
  int64_t limit;
};

// Raises a section's limit above `used`, below `max`, by `increments` increments, at most the part
// of the numbers left, at least one number.
constexpr Raise raise_by(int64_t used, int64_t max, uint64_t increments,
                         uint64_t increment) noexcept {
  const uint64_t room = static_cast<uint64_t>(max) - static_cast<uint64_t>(used);
  const uint64_t step = std::min(increments * increment, std::max<uint64_t>(room / kPart, 1));
  return {std::max<uint64_t>(step / increment, 1),
          static_cast<int64_t>(static_cast<uint64_t>(used) + step)};
}

struct Allotment {
  uint64_t count;   // numbers, 0 if none are left
  uint64_t blocks;  // the blocks that contain them
  int64_t says;     // the sequence's new value: its last value,
  bool is_called;   // or its next one if false
};

// Allocates up to `blocks` blocks, at least 1, from `first` on: at most the part of the numbers
// left up to `max`, or the `want` numbers requested, 0 if no caller waits. Blocks without gaps end
// anywhere. Blocks with gaps are whole, because the numbers in the gaps belong to other servers.
constexpr Allotment allot(int64_t first, int64_t max, Spacing spacing, uint64_t blocks,
                          uint64_t want) noexcept {
  if (first > max) return {0, 0, 0, false};
  const auto [size, increment] = spacing;
  const auto start = static_cast<uint64_t>(first);
  const uint64_t above = static_cast<uint64_t>(max) - start;  // how many are left after `first`
  const uint64_t part = above / kPart;
  if (size != increment) {
    blocks = std::min(blocks, std::max<uint64_t>(part / increment, want > 0 ? 1 : 0));
    if (blocks == 0) return {0, 0, 0, false};
    return {count_up_to(first, spacing, blocks, max), blocks,
            static_cast<int64_t>(start + (blocks - 1) * increment), true};
  }
  uint64_t count = std::max(part, want);
  if (count == 0) return {0, 0, 0, false};
  if (count / increment >= blocks)
    count = blocks * increment;
  else if (count > increment)
    count -= count % increment;
  count = std::min(count - 1, above) + 1;
  blocks = (count - 1) / increment + 1;
  if (count % increment == 0)
    return {count, blocks, static_cast<int64_t>(start + count - increment), true};
  if (count > above) return {count, blocks, max, true};
  return {count, blocks, static_cast<int64_t>(start + count), false};
}

// adapted_step() for segments: blocks should last 15 to 30 minutes.
constexpr uint64_t adapted_blocks(uint64_t blocks, uint64_t size, int64_t lasted_us) noexcept {
  constexpr int64_t kMinuteUs = 60'000'000;
  return adapted_step(blocks, size, lasted_us, {15 * kMinuteUs, 30 * kMinuteUs});
}

// How many numbers last without the source, at the rate of `used` numbers in lasted_us
// microseconds. A burst counts as 10 s long: its rate does not last. At most 2^62.
constexpr uint64_t numbers_ahead(uint64_t used, int64_t lasted_us) noexcept {
  // A tenth is used before the next refill. The rest lasts 10 minutes even at five times the rate.
  constexpr double kAheadUs = 60 * 60e6;
  constexpr double kShortestUs = 10e6;
  const double ahead =
      static_cast<double>(used) * kAheadUs / std::max(static_cast<double>(lasted_us), kShortestUs);
  return static_cast<uint64_t>(std::min(ahead, 0x1p62));
}

}  // namespace snowid::core
