// The SQL functions that draw from segments. Each is refused in a read-only transaction, as nextval
// is.
#include "pg/base/errors.hpp"
#include "pg/compat.hpp"
#include "pg/counters/segment.hpp"

namespace snowid::pg {

namespace {

// The state of a running snowid_segment_batch: the numbers it has drawn and not returned, and how
// many to draw.
struct Batch {
  Oid relid;
  uint64 size;
  int64 next;
  uint32 held;
  int32 left;
};

// Numbers of a batch are drawn up to so many at once: a batch that is not read to its end wastes
// fewer.
constexpr uint32 kBatchAtOnce = 1024;

// A block size as SQL gives it.
uint64 size_arg(int32 size) {
  if (size < 1)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("block size %d is out of range", size),
                    errdetail("It can be 1 to the sequence's increment.")));
  return static_cast<uint64>(size);
}

int64 segment_next(Oid relid, uint64 size) {
  require_nextval("snowid_segment_next()");
  return segment_draw(segment_open(relid), size, 1).first;
}

Datum segment_batch(FunctionCallInfo fcinfo, uint64 size) {
  FuncCallContext* call;
  if (SRF_IS_FIRSTCALL()) {
    require_nextval("snowid_segment_batch()");
    const int32 count = PG_GETARG_INT32(1);
    require_count(count, 0, PG_INT32_MAX);
    segment_open(PG_GETARG_OID(0));  // fails where nothing may be drawn from it
    call = SRF_FIRSTCALL_INIT();
    auto* batch =
        static_cast<Batch*>(MemoryContextAlloc(call->multi_call_memory_ctx, sizeof(Batch)));
    *batch = {PG_GETARG_OID(0), size, 0, 0, count};
    call->user_fctx = batch;
  }
  call = SRF_PERCALL_SETUP();
  auto* batch = static_cast<Batch*>(call->user_fctx);
  if (batch->held == 0 && batch->left == 0) SRF_RETURN_DONE(call);
  if (batch->held == 0) {
    const uint32 want = std::min(static_cast<uint32>(batch->left), kBatchAtOnce);
    const core::Drawn drawn = segment_draw(segment_open(batch->relid), batch->size, want);
    batch->next = drawn.first;
    batch->held = drawn.count;
    batch->left -= static_cast<int32>(drawn.count);
  }
  batch->held--;
  SRF_RETURN_NEXT(call, Int64GetDatum(batch->next++));
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_segment_next);
SNOWID_FUNCTION(snowid_segment_next_size);
SNOWID_FUNCTION(snowid_segment_batch);
SNOWID_FUNCTION(snowid_segment_batch_size);

// snowid_segment_next(seq regclass) → bigint
Datum snowid_segment_next(PG_FUNCTION_ARGS) { PG_RETURN_INT64(segment_next(PG_GETARG_OID(0), 0)); }

// snowid_segment_next(seq regclass, size int) → bigint
Datum snowid_segment_next_size(PG_FUNCTION_ARGS) {
  PG_RETURN_INT64(segment_next(PG_GETARG_OID(0), size_arg(PG_GETARG_INT32(1))));
}

// snowid_segment_batch(seq regclass, count int) → SETOF bigint
Datum snowid_segment_batch(PG_FUNCTION_ARGS) { return segment_batch(fcinfo, 0); }

// snowid_segment_batch(seq regclass, count int, size int) → SETOF bigint
Datum snowid_segment_batch_size(PG_FUNCTION_ARGS) {
  return segment_batch(fcinfo, size_arg(PG_GETARG_INT32(2)));
}
}
