// The settings of IDs, and the SQL functions that issue IDs. Each raises 25006 in a read-only
// transaction, finds cache and shard, and calls issue_one() or issue() (issue.hpp).
#include "pg/postgres.hpp"

#include "core/segment.hpp"
#include "pg/compat.hpp"
#include "pg/errors.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/shards.hpp"
#include "pg/types/layout.hpp"

extern "C" {
#include "access/parallel.h"
#include "access/xlog.h"
#include "funcapi.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "tcop/pquery.h"
}

namespace snowid::pg {

int64 shard_setting = kOwnNumber;
int max_lead_ms = 1000;
int max_wait_ms = kDefaultMaxWaitMs;

namespace {

// snowid.default_shard: a text, because shards can exceed an int, and PostgreSQL would replace an
// invalid number by the default, possibly another server's shard.
char* shard_text = nullptr;
bool is_registering = false;

// Reads a shard or kOwnNumber. Returns false for other text.
bool read_shard(std::string_view text, int64* shard) noexcept {
  while (!text.empty() && isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *shard);
  return error == std::errc{} && rest == text.data() + text.size() && *shard >= kOwnNumber;
}

// Rejects an invalid value in SET, ALTER DATABASE, ALTER ROLE, and ALTER SYSTEM. Accepts one from
// the configuration file, or stored before the library was loaded: PostgreSQL would only warn and
// use the default, but the first use raises an error. (ALTER SYSTEM has PGC_S_FILE, too.)
bool check_shard(char** value, void**, GucSource source) {
  int64 shard;
  if (read_shard(*value, &shard)) return true;
  if (is_registering || InitializingParallelWorker ||
      (source < PGC_S_INTERACTIVE && !(source == PGC_S_FILE && ActivePortal != nullptr)))
    return true;
  GUC_check_errdetail("It can be 0 to " INT64_FORMAT ", or -1 for this node's own number.",
                      PG_INT64_MAX);
  return false;
}

void assign_shard(const char* value, void*) {
  if (!read_shard(value, &shard_setting)) shard_setting = kRefusedShard;
  default_shard_forget();
}

// IDs to take, and those taken and not returned.
struct Batch {
  LayoutCache* cache;
  int64 shard;
  int32 left;
  core::Tick next;
  uint32 buffered;
  bool is_own;     // whether the shard is the node number
  uint64 changes;  // of the node number
};

int32 count_arg(FunctionCallInfo fcinfo) { return PG_GETARG_INT32(PG_NARGS() == 1 ? 0 : 1); }

// Raises: as shard_by_default().
Batch batch_of(FunctionCallInfo fcinfo) {
  const bool is_default = PG_NARGS() == 1;
  LayoutCache* cache = is_default ? &layout_caches : layout_cache_of(layout_spec_arg(fcinfo, 2));
  const int64 shard = is_default ? shard_by_default() : PG_GETARG_INT64(0);
  return {cache, shard, count_arg(fcinfo), {0}, 0, shard == default_shard, changes_seen};
}

// Raises: 55000, as currval does before nextval.
[[noreturn]] void report_undefined(const char* function) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("%s is not yet defined in this session", function),
          RecoveryInProgress() ? errdetail("A server in recovery issues no IDs.")
                               : errhint("Call snowid_next() first. Numbers of segments do "
                                         "not count: use RETURNING."));
}

// Raises: 55000 if the batch is of the node number, and that has changed.
void require_own(Batch* batch) {
  if (changes_of(number_word->load(std::memory_order_acquire)) == batch->changes) return;
  if (shard_by_default() != batch->shard)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("this node's number is no longer " INT64_FORMAT, batch->shard),
            errdetail("It changed while snowid_next_batch() returned IDs."));
  batch->changes = changes_seen;
}

}  // namespace

void report_refused_shard() {
  ereport(
      ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
      errmsg("invalid value for parameter \"%s\": \"%s\"", "snowid.default_shard", shard_text),
      errhint("Set it to a shard, or to -1 for this node's own number, by the same command "
              "(SET, ALTER DATABASE, ALTER ROLE or ALTER SYSTEM), or in the configuration file."));
}

void id_settings_register() {
  is_registering = true;
  DefineCustomStringVariable("snowid.default_shard", "Sets the default shard of snowid_next().",
                             "-1 selects the node number, shown by the view snowid.node_status. "
                             "Functions with a shard argument ignore this setting.",
                             &shard_text, "-1", PGC_USERSET, 0, check_shard, assign_shard, nullptr);
  is_registering = false;
  DefineCustomIntVariable(
      "snowid.max_lead", "Sets the maximum lead of an ID's time over the server's clock.",
      "A burst of IDs uses up to this much future time, and the clock can move backward by less "
      "without an effect. Beyond the limit, callers wait.",
      &max_lead_ms, 1000, 0, INT_MAX, PGC_SUSET, GUC_UNIT_MS, nullptr, nullptr, nullptr);
  DefineCustomIntVariable("snowid.max_wait", "Sets the maximum time to wait for the clock.",
                          "A call that would have to wait longer raises an error at once.",
                          &max_wait_ms, kDefaultMaxWaitMs, 0, INT_MAX, PGC_USERSET, GUC_UNIT_MS,
                          nullptr, nullptr, nullptr);
  bound_register("snowid.debug_max_shards", &max_shards);
  bound_register("snowid.debug_max_shards_of_database", &max_shards_of_database);
  bound_register("snowid.debug_shards_between_sweeps", &shards_between_sweeps);
  bound_register("snowid.debug_most_idle_shards", &most_idle_shards);
  bound_register("snowid.debug_log_every", &log_every);
  bound_register("snowid.debug_walk_tables", &walk_tables);
}

SNOWID_FUNCTION(snowid_next) {
  require_read_write("snowid_next()");
  PG_RETURN_INT64(issue_one(&layout_caches, core::kInstagram, shard_by_default()));
}

SNOWID_FUNCTION(snowid_next_shard) {
  require_read_write("snowid_next()");
  PG_RETURN_INT64(issue_one(&layout_caches, core::kInstagram, PG_GETARG_INT64(0)));
}

SNOWID_FUNCTION(snowid_default_shard) { PG_RETURN_INT64(shard_by_default()); }

SNOWID_FUNCTION(snowid_next_layout) {
  require_read_write("snowid_next()");
  LayoutCache* cache = layout_cache_of(layout_spec_arg(fcinfo, 1));
  PG_RETURN_INT64(issue_one(cache, cache->layout, PG_GETARG_INT64(0)));
}

// Takes up to a time unit's worth of IDs at once, issued when taken: a partly read batch wastes
// fewer, the times of a long one follow the clock, and other calls meanwhile get greater ones.
SNOWID_FUNCTION(snowid_next_batch) {
  FuncCallContext* call;
  if (SRF_IS_FIRSTCALL()) {
    require_read_write("snowid_next_batch()");
    require_count(count_arg(fcinfo), 0, PG_INT32_MAX);
    const Batch batch = batch_of(fcinfo);
    cached_shard(batch.cache, batch.shard);  // raises 22023 if there is no such shard
    call = SRF_FIRSTCALL_INIT();
    call->user_fctx = MemoryContextAlloc(call->multi_call_memory_ctx, sizeof(Batch));
    *static_cast<Batch*>(call->user_fctx) = batch;
  }
  call = SRF_PERCALL_SETUP();
  auto* batch = static_cast<Batch*>(call->user_fctx);
  if (batch->buffered == 0 && batch->left == 0) SRF_RETURN_DONE(call);
  const core::Layout& layout = batch->cache->layout;
  const core::Shard shard{static_cast<uint64>(batch->shard)};
  CachedShard* cached = cached_shard(batch->cache, batch->shard);
  if (batch->buffered == 0) {
    if (batch->is_own) require_own(batch);
    const uint64 unit = layout.max_sequence.value + 1;
    const uint32 want = static_cast<uint32>(std::min(uint64(batch->left), unit));
    const core::Grant grant = issue(layout, shard, cached->slot, want, core::Span::kAny);
    batch->next = grant.first;
    batch->buffered = grant.count;
    batch->left -= static_cast<int32>(grant.count);
    count_ids(cached, grant.count);
  }
  const int64 id = id_of(layout, shard, batch->next).value;
  batch->next.value++;
  batch->buffered--;
  remember(cached, id);
  SRF_RETURN_NEXT(call, Int64GetDatum(id));
}

// The planner's number of rows of a function of (count), or (anything, count, …).
SNOWID_FUNCTION(snowid_batch_support) {
  auto* request = reinterpret_cast<SupportRequestRows*>(PG_GETARG_POINTER(0));
  if (!IsA(request, SupportRequestRows) || !is_funcclause(request->node)) PG_RETURN_DATUM(0);
  List* args = castNode(FuncExpr, request->node)->args;
  auto* given = static_cast<Node*>(list_nth(args, list_length(args) == 1 ? 0 : 1));
  const auto* count = reinterpret_cast<Const*>(estimate_expression_value(request->root, given));
  if (!IsA(count, Const)) PG_RETURN_DATUM(0);
  // The functions are strict, and a negative count is an error.
  request->rows = count->constisnull ? 0 : std::max(DatumGetInt32(count->constvalue), 0);
  PG_RETURN_POINTER(request);
}

SNOWID_FUNCTION(snowid_reserve) {
  require_read_write("snowid_reserve()");
  const Batch batch = batch_of(fcinfo);
  const int32 count = batch.left;
  const core::Layout& layout = batch.cache->layout;
  if (count > 1 && layout.seq_shift > 0)
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("ID layout \"%s\" has no consecutive IDs", layout_text(layout.spec)),
            errdetail("Its sequence is not the last field."),
            errhint("Use snowid_next_batch() instead."));
  require_count(count, 1,
                static_cast<int64>(std::min(layout.max_sequence.value + 1, uint64{PG_INT32_MAX})));
  CachedShard* cached = cached_shard(batch.cache, batch.shard);
  const core::Shard valid{static_cast<uint64>(batch.shard)};
  const core::Grant grant =
      issue(layout, valid, cached->slot, static_cast<uint32>(count), core::Span::kOneUnit);
  const int64 first = id_of(layout, valid, grant.first).value;
  remember(cached, first + count - 1);
  count_ids(cached, static_cast<uint32>(count));
  PG_RETURN_INT64(first);
}

SNOWID_FUNCTION(snowid_lastval) {
  if (session_last_id == kNoId) report_undefined("snowid_lastval()");
  PG_RETURN_INT64(session_last_id);
}

SNOWID_FUNCTION(snowid_currval) {
  const int64 shard = PG_GETARG_INT64(0);
  const core::Layout& layout = layout_arg(fcinfo, 1);
  require_shard(layout, shard);
  const LayoutCache* cache = find_layout_cache(layout.spec);
  const CachedShard* cached = cache == nullptr ? nullptr : find_cached(cache, shard);
  if (cached == nullptr || cached->last_id == kNoId) report_undefined("snowid_currval()");
  PG_RETURN_INT64(cached->last_id);
}

}  // namespace snowid::pg
