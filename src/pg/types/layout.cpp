// The SQL type snowid_layout, and functions that describe layouts. Nothing is shared.
#include "pg/types/layout.hpp"

#include "core/layout_text.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"

extern "C" {
#include "funcapi.h"
#include "libpq/pqformat.h"
}

namespace snowid::pg {

const core::Layout& layout_of_call(FunctionCallInfo fcinfo, const core::LayoutSpec& spec) {
  auto* kept = static_cast<core::Layout*>(fcinfo->flinfo->fn_extra);
  if (kept != nullptr && kept->spec == spec) return *kept;
  if (kept == nullptr)
    fcinfo->flinfo->fn_extra = kept = static_cast<core::Layout*>(
        MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof(core::Layout)));
  return *kept = core::make_layout(spec);
}

char* layout_text(const core::LayoutSpec& spec) {
  char text[core::kLayoutTextSize];
  return pnstrdup(text, core::format_layout(spec, text));
}

namespace {

core::LayoutSpec* palloc_spec(const core::LayoutSpec& spec) {
  auto* made = static_cast<core::LayoutSpec*>(palloc(sizeof(core::LayoutSpec)));
  *made = spec;
  return made;
}

// By the fault: the wrong part of the text, its position, the allowed values.
constexpr const char* kDetails[] = {
    "",
    "No layout has the name \"%s\".",
    "\"%s\" at character %d does not begin with time:, shard:, seq:, unit:, or epoch:.",
    "\"%s\" at character %d is in the specification a second time.",
    "The specification lacks \"%s:\".",
    "\"%s\" at character %d must give a number of bits.",
    "\"%s\" at character %d must have 1 to 63 bits.",
    "\"%s\" at character %d must have 0 to 63 bits.",
    "\"%s\" at character %d must give a number and one of us, ms, s, min, h, and d.",
    "\"%s\" at character %d must be 1us to 1d.",
    ("\"%s\" at character %d must give a UTC time such as 2011-08-24T21:07:01.721Z, or Unix "
     "milliseconds."),
    "\"%s\" at character %d must give a valid time of the years 1 to 9999.",
    "Time, shard, and sequence must have 64 bits together at most."};
static_assert(lengthof(kDetails) == static_cast<int>(core::LayoutFault::kSum) + 1);

int detail_of(const char* text, const core::LayoutError& error) {
  const char* part = error.part.empty() ? "" : pnstrdup(error.part.data(), error.part.size());
  // In bytes, which are characters, because the parts before it are ASCII. A missing part has none.
  const int at = static_cast<int>(error.part.data() - text) + 1;
  return errdetail_internal(kDetails[static_cast<int>(error.fault)], part, at);
}

}  // namespace

SNOWID_FUNCTION(snowid_layout_in) {
  const char* text = PG_GETARG_CSTRING(0);
  core::LayoutSpec spec;
  const core::LayoutError error = core::parse_layout(text, &spec);
  if (error.fault == core::LayoutFault::kNone) PG_RETURN_POINTER(palloc_spec(spec));
  SNOWID_INPUT_ERROR(
      (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
       errmsg("invalid input syntax for type %s: \"%s\"", "snowid_layout", text),
       detail_of(text, error),
       errhint("Use a name listed in the view \"snowid.layouts\", or a specification with the most "
               "significant field first, such as \"time:41 shard:13 seq:10 unit:1ms "
               "epoch:2011-08-24T21:07:01.721Z\".")));
}

SNOWID_FUNCTION(snowid_layout_out) { PG_RETURN_CSTRING(layout_text(layout_spec_arg(fcinfo, 0))); }

SNOWID_FUNCTION(snowid_layout_recv) {
  auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
  const int64 epoch_us = pq_getmsgint64(message);
  const uint64 unit_us = static_cast<uint64>(pq_getmsgint64(message));
  uint8 widths[3];
  for (uint8& width : widths) width = static_cast<uint8>(pq_getmsgbyte(message));
  const uint8 order = static_cast<uint8>(pq_getmsgbyte(message));
  const bool fits = unit_us <= core::kLongestUnitUs &&
                    std::max({widths[0], widths[1], widths[2]}) <= 64 &&
                    order <= core::kSeqShardTime;
  core::LayoutSpec spec{};
  if (fits) spec = {epoch_us, unit_us, widths[0], widths[1], widths[2], order};
  if (!fits || !is_valid(spec))
    ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
            errmsg("invalid value of type %s in external binary data", "snowid_layout"));
  PG_RETURN_POINTER(palloc_spec(core::canonical(spec)));
}

SNOWID_FUNCTION(snowid_layout_send) {
  const core::LayoutSpec& spec = layout_spec_arg(fcinfo, 0);
  StringInfoData message;
  pq_begintypsend(&message);
  pq_sendint64(&message, static_cast<uint64>(spec.epoch_us));
  pq_sendint64(&message, spec.unit_us());
  pq_sendbyte(&message, spec.time_bits());
  pq_sendbyte(&message, spec.shard_bits());
  pq_sendbyte(&message, spec.seq_bits());
  pq_sendbyte(&message, spec.order());
  PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

SNOWID_COMPARISONS(snowid_layout, core::LayoutSpec)

SNOWID_FUNCTION(snowid_layout_names) {
  InitMaterializedSRF(fcinfo, 0);
  for (const core::NamedLayout& named : core::kNamedLayouts) {
    core::LayoutSpec spec = named.spec;
    Datum values[] = {PointerGetDatum(cstring_to_text_with_len(
                          named.name.data(), static_cast<int>(named.name.size()))),
                      PointerGetDatum(&spec)};
    bool nulls[lengthof(values)] = {};
    put_row(fcinfo, values, nulls);
  }
  PG_RETURN_NULL();
}

SNOWID_FUNCTION(snowid_describe_layout) {
  const core::Layout& layout = layout_arg(fcinfo, 0);
  char text[core::kLayoutTextSize];
  const size_t length = core::format_layout_spec(layout.spec, text);
  auto* unit = static_cast<Interval*>(palloc0(sizeof(Interval)));
  unit->time = layout.unit_us;
  const double sequences = static_cast<double>(layout.max_sequence.value) + 1;
  Datum values[] = {PointerGetDatum(cstring_to_text_with_len(text, static_cast<int>(length))),
                    TimestampTzGetDatum(to_timestamptz(layout.epoch)),
                    IntervalPGetDatum(unit),
                    Int64GetDatum(static_cast<int64>(layout.max_shard.value)),
                    Float8GetDatum(sequences * USECS_PER_SEC / static_cast<double>(layout.unit_us)),
                    TimestampTzGetDatum(to_timestamptz(layout.end))};
  bool nulls[lengthof(values)] = {};
  return row_datum(fcinfo, values, nulls);
}

SNOWID_FUNCTION(snowid_layout_is_ordered) { PG_RETURN_BOOL(layout_arg(fcinfo, 0).time_is_first); }

}  // namespace snowid::pg
