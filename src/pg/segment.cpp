// Buying blocks. See segment.hpp. While one session buys, the others draw what is left; only where
// nothing is left do they wait for it.
#include "pg/segment.hpp"

#include "pg/central.hpp"
#include "pg/clock.hpp"
#include "pg/settings.hpp"

namespace snowid::pg {

namespace {

// A purchase: blocks from `first` on, of which no number is above `max`.
struct Purchase {
  int64 first;
  uint64 blocks;
  core::Spacing spacing;
  int64 max;
};

// Whether what is in memory is what the caller asks for.
bool IsOfSize(const core::Segment& numbers, uint64 size) {
  const uint64 is = numbers.size.load(std::memory_order_relaxed);
  return is == (size == 0 ? numbers.increment.load(std::memory_order_relaxed) : size);
}

// Whether the numbers in memory count: for this block size, and as long as nobody has changed the
// sequence.
inline bool do_count(Counter* counter, uint64 size) {
  return IsOfSize(counter->segment->numbers, size) &&
         counter_is_as_known(counter, counter->segment->known);
}

core::Spacing spacing_of(Oid relid, uint64 size, int64 increment) {
  if (size > static_cast<uint64>(increment))
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("block size " UINT64_FORMAT " is out of range for sequence \"%s\"", size,
                           get_rel_name(relid)),
                    errdetail("It can be 1 to its increment, " INT64_FORMAT ".", increment)));
  return {size == 0 ? static_cast<uint64>(increment) : size, static_cast<uint64>(increment)};
}

// How many blocks to buy, by how long the last ones took to be used up.
uint64 blocks_to_buy(const SharedSegment* segment, uint64 size, core::UnixMicros now) {
  if (segment->blocks == 0 || !segment_adapt) return 1;
  return std::max<uint64>(
      core::AdaptedBlocks(segment->blocks, size, now.value - segment->bought_us), 1);
}

// Puts what was bought where all sessions draw from. What is left there of a sequence that was
// changed, or in blocks of another size, counts for nothing any more.
void publish(Counter* counter, const Purchase& bought, core::UnixMicros now) {
  SharedSegment* segment = counter->segment;
  core::Segment& numbers = segment->numbers;
  const core::Spacing before{numbers.size.load(), numbers.increment.load()};
  if (segment->known.file.load() == 0 || !(before == bought.spacing) || !core::HasRoom(numbers))
    core::Forget(numbers);
  const uint64 count = core::CountUpTo(bought.first, bought.spacing, bought.blocks, bought.max);
  core::Publish(numbers, bought.first, std::min(count, core::kMostAtOnce), bought.spacing);
  segment->blocks = bought.blocks;
  segment->bought_us = now.value;
  segment->bought_cursor = numbers.cursor.load();
  counter_settle(counter, &segment->known);
}

enum class Outcome : uint8_t {
  kBought,
  kExhausted,  // there are no more numbers
  kFailed,     // the central source has failed
};

// How far above the sequence's last value its next block begins: its increment, or what that was
// when the last block was bought, where it has been lowered since.
int64 length_of_last(const Counter* counter, SequenceValue value, int64 increment) {
  const SharedSegment* segment = counter->segment;
  if (segment->known.file.load() == 0 || value.last != segment->known.after.load())
    return increment;
  return std::max(increment, static_cast<int64>(segment->numbers.increment.load()));
}

// Buys from the sequence itself.
Outcome buy_here(Counter* counter, uint64 size, const CounterOptions& options,
                 core::UnixMicros now) {
  const core::Spacing spacing = spacing_of(counter->relid, size, options.increment);
  uint64 blocks = blocks_to_buy(counter->segment, spacing.size, now);

  const SequencePage page = counter_page_lock(counter);
  const SequenceValue value = SequencePageValue(page);
  int64 first = value.last;
  bool is_exhausted =
      value.is_called &&
      pg_add_s64_overflow(value.last, length_of_last(counter, value, options.increment), &first);
  is_exhausted = is_exhausted || first > options.max;
  XLogRecPtr lsn = InvalidXLogRecPtr;
  if (!is_exhausted) {
    const uint64 room = static_cast<uint64>(options.max) - static_cast<uint64>(first);
    blocks = std::min(blocks, room / spacing.increment + 1);
    lsn = counter_change(page, counter, &counter->segment->known,
                         first + static_cast<int64>((blocks - 1) * spacing.increment));
  }
  counter_page_unlock(page);
  if (is_exhausted) return Outcome::kExhausted;

  sequence_make_durable(lsn);
  publish(counter, {first, blocks, spacing, options.max}, now);
  return Outcome::kBought;
}

// How many blocks to buy from a central source: enough to go on without it, at the recent rate.
uint64 blocks_to_buy_ahead(const SharedSegment* segment, uint64 size, core::UnixMicros now) {
  if (segment->blocks == 0) return 1;
  if (size == 0) size = segment->numbers.increment.load();
  const uint64 used = segment->numbers.cursor.load() - segment->bought_cursor;
  const uint64 ahead = core::NumbersAhead(used, now.value - segment->bought_us) / size + 1;
  // What one statement should do.
  return std::min(std::max(ahead, blocks_to_buy(segment, size, now)), core::kMostNumbers);
}

// Remembers that the source has failed, and for how long nobody need try: twice as long as the
// failure took, so that callers spend no great part of their time on it.
void note_failure(const Counter* counter, bool is_down, core::UnixMicros began) {
  SharedSegment* segment = counter->segment;
  const core::UnixMicros now = unix_now();
  const int64 took_us = std::max<int64>(now.value - began.value, 0);
  segment->is_down.store(is_down);
  segment->failed_file.store(file_of(counter->file));
  segment->failed_us.store(now.value);
  segment->retry_us.store(now.value +
                          std::clamp<int64>(2 * took_us, USECS_PER_SEC, 60 * USECS_PER_SEC));
}

// Buys from the central source. With kEarly its failure is logged, else reported.
Outcome buy_there(Counter* counter, uint64 size, const CounterOptions& options,
                  const CentralSource& source, Urgency urgency, core::UnixMicros now) {
  SharedSegment* segment = counter->segment;
  CentralBlocks there;
  ErrorData* error = central_buy(source, blocks_to_buy_ahead(segment, size, now), &there);
  if (error != nullptr) {
    note_failure(counter, IsUnreachable(error), now);
    if (urgency == Urgency::kMust && !IsUnreachable(error)) ReThrowError(error);
    if (urgency == Urgency::kMust) central_report_down(source, error);
    ereport(LOG,
            (errmsg("could not buy numbers from server \"%s\" for sequence \"%s\"", source.server,
                    get_rel_name(counter->relid)),
             errdetail_internal("%s", error->detail != nullptr ? error->detail : error->message)));
    return Outcome::kFailed;
  }
  segment->retry_us.store(0);
  if (urgency == Urgency::kEarly && size > static_cast<uint64>(there.increment)) {
    // Who has no number will be told.
    note_failure(counter, false, now);
    return Outcome::kFailed;
  }
  const core::Spacing spacing = spacing_of(counter->relid, size, there.increment);
  const int64 max = std::min(options.max, there.max);
  if (there.first > max) return Outcome::kExhausted;

  const uint64 room = static_cast<uint64>(max) - static_cast<uint64>(there.first);
  const uint64 blocks = std::min(static_cast<uint64>(there.blocks), room / spacing.increment + 1);
  int64 last = there.first + static_cast<int64>((blocks - 1) * spacing.increment);
  // The sequence here says how far the numbers have come: its own, once it is detached, are above
  // them, even if its increment is less.
  const int64 rest = std::max<int64>(there.increment - options.increment, 0);
  if (pg_add_s64_overflow(last, rest, &last) || last > options.max) last = options.max;
  const SequencePage page = counter_page_lock(counter);
  const XLogRecPtr lsn =
      counter_change(page, counter, &segment->known, std::max(last, SequencePageValue(page).last));
  counter_page_unlock(page);

  sequence_make_durable(lsn);
  publish(counter, {there.first, blocks, spacing, max}, now);
  return Outcome::kBought;
}

// Whether the sequence's source has failed when it was last tried. Another one that the sequence
// was attached to since has not.
bool HasFailed(const Counter* counter) {
  const SharedSegment* segment = counter->segment;
  return segment->retry_us.load(std::memory_order_relaxed) != 0 &&
         segment->failed_file.load(std::memory_order_relaxed) == file_of(counter->file);
}

// Whether a source that has failed is to be left alone yet.
bool IsToWait(const Counter* counter) {
  if (!HasFailed(counter)) return false;
  // A clock that was set back is no reason to wait longer.
  const SharedSegment* segment = counter->segment;
  const core::UnixMicros now = unix_now();
  return now.value < segment->retry_us.load(std::memory_order_relaxed) &&
         now.value >= segment->failed_us.load(std::memory_order_relaxed);
}

// Whether the sequence's source could not be reached when it was last tried.
bool IsDown(const Counter* counter) {
  return HasFailed(counter) && counter->segment->is_down.load();
}

// Whether nothing need be bought, by the time that this session has the right to.
bool is_served(Counter* counter, uint64 size, Urgency urgency) {
  const core::Segment& numbers = counter->segment->numbers;
  const bool counts = do_count(counter, size);
  if (urgency == Urgency::kMust) return counts && core::HasNumbers(numbers);
  return !counts || !core::IsLow(numbers) || !core::HasRoom(numbers);
}

// Takes the right to buy, and sets *source to the sequence's, or its server to nullptr where it has
// none. Returns false where another session has the right; with kMust it has waited for that one,
// save that nobody waits for the one who tries a source that is down.
bool begin_buying(Counter* counter, Urgency urgency, CentralSource* source) {
  BuyingRight* right = &counter->segment->buying;
  const bool is_down = IsDown(counter);
  if (urgency == Urgency::kEarly) {
    if (HasBuyer(*right) || IsToWait(counter)) return false;
  } else if (HasBuyer(*right) && !is_down) {
    buying_wait(right);
    return false;
  }
  // Before the right is taken, since it may have to wait for who has locked the table. The lock on
  // the sequence keeps others from changing its source.
  central_find(counter->relid, source);
  const bool is_refused = urgency == Urgency::kMust && is_down && source->server != nullptr;
  if (is_refused && IsToWait(counter)) central_report_down(*source, nullptr);
  if (buying_begin(right)) return true;
  if (is_refused) central_report_down(*source, nullptr);
  if (urgency == Urgency::kMust) buying_wait(right);
  return false;
}

// Buys, where nobody else does. With kMust it draws as segment_draw() does, before somebody can
// change the sequence; but others may have drawn all. With kEarly it draws nothing.
core::Drawn buy(Counter* counter, uint64 size, Urgency urgency, uint32 want) {
  core::Drawn drawn{0, 0, false};
  CentralSource source;
  if (!begin_buying(counter, urgency, &source)) return drawn;
  if (!is_served(counter, size, urgency)) {
    const core::UnixMicros now = unix_now();
    const CounterOptions options = counter_options(counter->relid);
    const Outcome outcome = source.server != nullptr
                                ? buy_there(counter, size, options, source, urgency, now)
                                : buy_here(counter, size, options, now);
    if (outcome == Outcome::kExhausted) {
      if (urgency == Urgency::kMust) counter_report_exhausted(counter->relid, options.max);
      core::StopAlert(counter->segment->numbers);
    }
  }
  if (urgency == Urgency::kMust) drawn = core::Draw(counter->segment->numbers, want);
  EndBuying();
  return drawn;
}

}  // namespace

Counter* segment_open(Oid relid) {
  Counter* counter = counter_open(relid, ACL_USAGE | ACL_UPDATE);
  if (unlikely(counter->segment == nullptr)) {
    shared_attach();
    counter->segment = shared_segment(relid);
  }
  return counter;
}

core::Drawn segment_draw(Counter* counter, uint64 size, uint32 want) {
  for (;;) {
    if (likely(do_count(counter, size))) {
      const core::Drawn drawn = core::Draw(counter->segment->numbers, want);
      if (unlikely(drawn.is_low && drawn.count > 0)) buy(counter, size, Urgency::kEarly, 0);
      if (likely(drawn.count > 0)) return drawn;
    }
    CHECK_FOR_INTERRUPTS();
    const core::Drawn drawn = buy(counter, size, Urgency::kMust, want);
    if (drawn.count > 0) return drawn;
  }
}

}  // namespace snowid::pg
