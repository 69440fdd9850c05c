// Segments: caches of a sequence, shared by all sessions of a database. Numbers are allocated in
// blocks of the sequence's INCREMENT, and issued from shared memory (core/segment.hpp).
//
// snowid_segment_next() calls, in this order: segment_open(); segment_draw(), which looks at the
// sequence's page and issues a number; if few are left, refill_segment(), which acquires the right
// to refill and allocates blocks of the sequence itself (refill_here()) or of a remote sequence
// (refill_there()). During a refill other sessions use the remaining numbers, and wait only if none
// is left. A read-only transaction gets an error, as from nextval.
//
// Shared: SharedSegment and the sequence, see counter_state.hpp.
#include "pg/postgres.hpp"

#include "core/adapting_step.hpp"
#include "core/central.hpp"
#include "core/known.hpp"
#include "core/segment.hpp"
#include "core/types.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/errors.hpp"
#include "pg/remote.hpp"
#include "pg/sequence_page.hpp"

extern "C" {
#include "funcapi.h"
}

namespace snowid::pg {

namespace {

// Whether the numbers in memory are in blocks of this size (0: of the whole increment), and the
// sequence is unchanged.
inline bool has_valid_numbers(Counter* counter, uint64 size) {
  const core::Segment& numbers = counter->segment->numbers;
  if (size == 0) size = numbers.increment.load(std::memory_order_relaxed);
  return numbers.size.load(std::memory_order_relaxed) == size &&
         counter_is_as_known(counter, counter->segment->known);
}

core::Spacing spacing_of(Oid relid, uint64 size, int64 increment) {
  if (size > static_cast<uint64>(increment))
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("block size " UINT64_FORMAT " is out of range for sequence \"%s\"", size,
                   get_rel_name(relid)),
            errdetail("It can be 1 to its increment, " INT64_FORMAT ".", increment));
  return {size == 0 ? static_cast<uint64>(increment) : size, static_cast<uint64>(increment)};
}

// By the time for which the last blocks lasted, the numbers issued, and `want`.
uint64 blocks_to_allocate(const SharedSegment* segment, uint64 size, uint64 want,
                          core::UnixMicros now) {
  Assert(is_mine(segment->refill));
  if (!segment_adapt) return 1;
  const uint64 blocks =
      segment->blocks == 0
          ? 1
          : core::adapted_blocks(segment->blocks, size, now.value - segment->refilled_us);
  return core::blocks_within(blocks, size, core::given_by(segment->numbers), want);
}

// Publishes `count` numbers from `first` on. Drops numbers still in memory if the sequence was
// changed or their blocks have another size.
void publish_numbers(Counter* counter, int64 first, uint64 count, uint64 blocks,
                     core::Spacing spacing, core::UnixMicros now) {
  SharedSegment* segment = counter->segment;
  core::Segment& numbers = segment->numbers;
  Assert(is_mine(segment->refill));
  const core::Spacing before{numbers.size.load(), numbers.increment.load()};
  if (segment->known.file.load() == 0 || !(before == spacing) || !core::has_room(numbers))
    core::forget(numbers);
  core::publish(numbers, first, std::min(count, core::kMostAtOnce), spacing);
  segment->blocks = blocks;
  segment->refilled_us = now.value;
  segment->refilled_cursor = numbers.cursor.load();
  counter_settle(counter, &segment->known);
}

enum class Outcome : uint8_t {
  kNone,  // not needed; the remote sequence failed; or the sequence was set above its numbers
  kRefilled,
  kExhausted,  // no numbers are left, or too few to allocate early
};

// Sets *first to the least number at which the next block may begin. Returns false if it would
// exceed bigint.
bool find_first(const Counter* counter, const SequencePage& page, int64 increment, int64_t* first) {
  const SharedSegment* segment = counter->segment;
  return core::find_first(segment->numbers, segment->known, file_of(counter->file),
                          sequence_page_value(page.buffer), increment, first);
}

// want: numbers asked for, 0 for an early refill.
Outcome refill_here(Counter* counter, uint64 size, uint32 want, const SequenceOptions& options,
                    core::UnixMicros now) {
  const core::Spacing spacing = spacing_of(counter->relid, size, options.increment);
  const uint64 blocks = blocks_to_allocate(counter->segment, spacing.size, want, now);

  const SequencePage page = counter_page_lock(counter);
  int64_t first;
  core::Allotment allotted{};
  if (find_first(counter, page, options.increment, &first))
    allotted = core::allot(first, options.max, spacing, blocks, want);
  XLogRecPtr lsn = InvalidXLogRecPtr;
  if (allotted.count > 0)
    lsn =
        counter_change(page, counter, &counter->segment->known, allotted.says, allotted.is_called);
  counter_page_unlock(page);
  if (allotted.count == 0) return Outcome::kExhausted;

  sequence_make_durable(lsn);
  publish_numbers(counter, first, allotted.count, allotted.blocks, spacing, now);
  return Outcome::kRefilled;
}

// Enough blocks to outlast an outage for a while at the recent rate, within a part of the numbers
// left in this sequence. room: numbers left after the next.
uint64 blocks_to_allocate_ahead(const SharedSegment* segment, uint64 size, uint64 room,
                                core::UnixMicros now) {
  if (segment->blocks == 0) return 1;
  const uint64 increment = segment->numbers.increment.load();
  if (size == 0) size = increment;
  const uint64 used = segment->numbers.cursor.load() - segment->refilled_cursor;
  const uint64 ahead = core::numbers_ahead(used, now.value - segment->refilled_us) / size + 1;
  // core::kMostNumbers bounds the work of one statement.
  return std::min({std::max(ahead, blocks_to_allocate(segment, size, 0, now)), core::kMostNumbers,
                   std::max<uint64>(room / core::kPart / increment, 1)});
}

// Records and publishes the remote sequence's blocks, unless the sequence was set above them
// meanwhile. began: start of the remote call.
Outcome take_given_blocks(Counter* counter, const core::GivenBlocks& there,
                          const SequenceOptions& options, core::Spacing spacing,
                          core::UnixMicros began) {
  const SequencePage page = counter_page_lock(counter);
  core::OwnNumbers own{false, 0, options.max};
  own.has_next = find_first(counter, page, options.increment, &own.next);
  const core::TakenBlocks taken = core::take_blocks(there, own);
  XLogRecPtr lsn = InvalidXLogRecPtr;
  if (taken.taking == core::Taking::kTaken)
    lsn = counter_change(page, counter, &counter->segment->known, taken.says, !taken.has_next);
  counter_page_unlock(page);

  if (taken.taking == core::Taking::kExhausted) return Outcome::kExhausted;
  if (taken.taking == core::Taking::kBehind) return Outcome::kNone;
  sequence_make_durable(lsn);
  const uint64 count = core::count_up_to(taken.first, spacing, taken.blocks, taken.max);
  publish_numbers(counter, taken.first, count, taken.blocks, spacing, began);
  return Outcome::kRefilled;
}

// Refills with blocks above all issued numbers. With kMust raises the remote sequence's failure.
Outcome refill_there(Counter* counter, uint64 size, const SequenceOptions& options,
                     const RemoteSource& source, Urgency urgency, core::UnixMicros now) {
  SharedSegment* segment = counter->segment;
  int64_t first;
  const SequencePage page = counter_page_lock(counter);
  const bool has_first = find_first(counter, page, options.increment, &first);
  counter_page_unlock(page);
  if (!has_first || first > options.max) return Outcome::kExhausted;
  const uint64 room = static_cast<uint64>(options.max) - static_cast<uint64>(first);
  const uint64 blocks = blocks_to_allocate_ahead(segment, size, room, now);
  core::GivenBlocks there;
  ErrorData* error = source_allocate(source, first, blocks, &there);
  if (error != nullptr) {
    const bool is_down = is_unreachable(error);
    const char* detail = error->detail_log != nullptr ? error->detail_log : error->detail;
    note_failure(counter, source, is_down ? ERRCODE_CONNECTION_FAILURE : error->sqlerrcode,
                 detail != nullptr ? detail : error->message, now, urgency);
    if (urgency == Urgency::kEarly) return Outcome::kNone;
    if (!is_down) ReThrowError(error);
    source_report_down(source, error);
  }
  segment->source.retry_us.store(0);
  if (size > static_cast<uint64>(there.increment)) {
    note_failure(counter, source, ERRCODE_INVALID_PARAMETER_VALUE,
                 "Its blocks are smaller than the block size of the calls.", now, urgency);
    if (urgency == Urgency::kEarly) return Outcome::kNone;
  }
  // With kMust raises an error if `size` is too large.
  const core::Spacing spacing = spacing_of(counter->relid, size, there.increment);
  return take_given_blocks(counter, there, options, spacing, now);
}

// Whether nothing is to be done, once this session has the right: another one may have refilled. An
// early refill also does nothing if the numbers in memory are invalid or the segment has no room.
bool is_served(Counter* counter, uint64 size, Urgency urgency) {
  Assert(is_mine(counter->segment->refill));
  const core::Segment& numbers = counter->segment->numbers;
  const bool counts = has_valid_numbers(counter, size);
  if (urgency == Urgency::kMust) return counts && core::has_numbers(numbers);
  return !counts || !core::is_running_low(numbers) || !core::has_room(numbers);
}

// Acquires the right to refill, and sets *source, its server to nullptr if there is none. Returns
// false if another session has it; with kMust after a wait, unless the remote server is down.
bool begin_refill(Counter* counter, Urgency urgency, RemoteSource* source) {
  RefillRight* right = &counter->segment->refill;
  if (urgency == Urgency::kEarly && (is_being_refilled(*right) || is_retry_too_early(counter)))
    return false;
  // Before, because it may wait for the table. The sequence's lock protects its source.
  *source = source_find(counter->relid);
  const bool is_down = source->server != nullptr && is_unreachable_source(counter);
  if (!(is_down && is_retry_too_early(counter)) && refill_begin(right)) return true;
  if (urgency == Urgency::kEarly) return false;
  if (is_down) source_report_down(*source, nullptr);
  refill_wait(right);
  return false;
}

// Refills, unless another session does. With kMust also issues up to `want` numbers before the
// right is released, to get some even if the sequence changes all the time; the count is 0 if other
// sessions took all. With kEarly issues none.
core::Drawn refill_segment(Counter* counter, uint64 size, Urgency urgency, uint32 want) {
  core::Drawn drawn{0, 0, false};
  RemoteSource source;
  if (!begin_refill(counter, urgency, &source)) return drawn;
  SharedSegment* segment = counter->segment;
  instr_time began;
  INSTR_TIME_SET_CURRENT(began);
  Outcome outcome = Outcome::kNone;
  if (!is_served(counter, size, urgency)) {
    const core::UnixMicros now = unix_now();
    const SequenceOptions options = sequence_options(counter->relid);
    outcome = source.server != nullptr ? refill_there(counter, size, options, source, urgency, now)
                                       : refill_here(counter, size, want, options, now);
    if (outcome == Outcome::kExhausted) {
      if (urgency == Urgency::kMust) counter_report_exhausted(counter->relid, options.max);
      core::stop_alert(segment->numbers);
    }
  }
  if (urgency == Urgency::kMust) drawn = core::draw(segment->numbers, want);
  if (outcome == Outcome::kRefilled) finish_refill(&segment->refills, counter->relid, began);
  end_refill();
  return drawn;
}

Counter* segment_open(Oid relid) {
  Counter* counter = counter_open(relid, ACL_USAGE | ACL_UPDATE);
  if (unlikely(counter->segment == nullptr))
    counter->segment = static_cast<SharedSegment*>(shared_counter(&segments, relid));
  return counter;
}

// Issues 1 to `want` numbers. size: of blocks, 0 for the whole increment.
core::Drawn segment_draw(Counter* counter, uint64 size, uint32 want) {
  for (;;) {
    if (likely(has_valid_numbers(counter, size))) {
      const core::Drawn drawn = core::draw(counter->segment->numbers, want);
      if (unlikely(drawn.is_low && drawn.count > 0))
        refill_segment(counter, size, Urgency::kEarly, 0);
      if (likely(drawn.count > 0)) return drawn;
    }
    CHECK_FOR_INTERRUPTS();
    const core::Drawn drawn = refill_segment(counter, size, Urgency::kMust, want);
    if (drawn.count > 0) return drawn;
  }
}

struct Batch {
  Oid relid;
  uint64 size;
  int64 next;
  uint32 buffered;
  int32 left;
};

// A batch not read to its end wastes fewer.
constexpr uint32 kBatchAtOnce = 1024;

// The block size: argument `number`, or if absent 0, the whole increment. Raises: 22023.
uint64 size_arg(FunctionCallInfo fcinfo, int number) {
  if (PG_NARGS() <= number) return 0;
  const int32 size = PG_GETARG_INT32(number);
  if (size < 1)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("block size %d is out of range", size),
            errdetail("It can be 1 to the sequence's increment."));
  return static_cast<uint64>(size);
}

}  // namespace

SNOWID_FUNCTION(snowid_segment_next) {
  const uint64 size = size_arg(fcinfo, 1);
  require_nextval("snowid_segment_next()");
  PG_RETURN_INT64(segment_draw(segment_open(PG_GETARG_OID(0)), size, 1).first);
}

SNOWID_FUNCTION(snowid_segment_batch) {
  FuncCallContext* call;
  if (SRF_IS_FIRSTCALL()) {
    const uint64 size = size_arg(fcinfo, 2);
    require_nextval("snowid_segment_batch()");
    const int32 count = PG_GETARG_INT32(1);
    require_count(count, 0, PG_INT32_MAX);
    segment_open(PG_GETARG_OID(0));  // checks the rights
    call = SRF_FIRSTCALL_INIT();
    auto* batch =
        static_cast<Batch*>(MemoryContextAlloc(call->multi_call_memory_ctx, sizeof(Batch)));
    *batch = {PG_GETARG_OID(0), size, 0, 0, count};
    call->user_fctx = batch;
  }
  call = SRF_PERCALL_SETUP();
  auto* batch = static_cast<Batch*>(call->user_fctx);
  if (batch->buffered == 0 && batch->left == 0) SRF_RETURN_DONE(call);
  if (batch->buffered == 0) {
    const uint32 want = std::min(static_cast<uint32>(batch->left), kBatchAtOnce);
    const core::Drawn drawn = segment_draw(segment_open(batch->relid), batch->size, want);
    batch->next = drawn.first;
    batch->buffered = drawn.count;
    batch->left -= static_cast<int32>(drawn.count);
  }
  batch->buffered--;
  SRF_RETURN_NEXT(call, Int64GetDatum(batch->next++));
}

}  // namespace snowid::pg
