// SQL functions for IDs in base 62, and for scattered IDs. Nothing is shared.
#include "pg/postgres.hpp"

#include "core/scatter.hpp"
#include "core/text.hpp"
#include "pg/compat.hpp"
#include "pg/values.hpp"

namespace snowid::pg {

namespace {

[[noreturn]] void report_text(core::Status status, const text* value) {
  if (status == core::Status::kNumberOutOfRange)
    ereport(
        ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
        errmsg("base 62 form of an ID is out of range for type bigint: \"%s\"",
               text_to_cstring(value)),
        errdetail("The greatest bigint has the form \"%.*s\".", static_cast<int>(core::kTextLength),
                  core::format_text({PG_INT64_MAX}).digits));
  ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
          errmsg("invalid base 62 form of an ID: \"%s\"", text_to_cstring(value)),
          errhint("It has %d characters, each of them one of 0-9, A-Z and a-z.",
                  static_cast<int>(core::kTextLength)));
}

[[noreturn]] void report_scatter(core::Status status, int64 id, int32 digits) {
  switch (status) {
    case core::Status::kDigitsOutOfRange:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("number of digits to move must be between 1 and %d", core::kMostScatterDigits));
      break;
    case core::Status::kNegativeId:
      ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
              errmsg("negative IDs cannot be scattered"));
      break;
    case core::Status::kTooFewDigits:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("ID " INT64_FORMAT " has too few digits to move %d of them", id, digits),
          errdetail("They go behind the first one, so at least %d digits are needed.", digits + 1));
      break;
    case core::Status::kResultOutOfRange:
      ereport(
          ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
          errmsg("ID " INT64_FORMAT " with its digits moved is out of range for type bigint", id));
      break;
    default:
      elog(ERROR, "unexpected status %d", static_cast<int>(status));
  }
  pg_unreachable();
}

Datum moved_digits(FunctionCallInfo fcinfo, core::Status (*move)(core::Id, int, core::Id*)) {
  const int64 id = PG_GETARG_INT64(0);
  const int32 digits = PG_GETARG_INT32(1);
  core::Id moved;
  const core::Status status = move({id}, digits, &moved);
  if (status != core::Status::kOk) report_scatter(status, id, digits);
  PG_RETURN_INT64(moved.value);
}

}  // namespace

SNOWID_FUNCTION(snowid_to_base62) {
  const core::IdText form = core::format_text({PG_GETARG_INT64(0)});
  PG_RETURN_TEXT_P(cstring_to_text_with_len(form.digits, core::kTextLength));
}

SNOWID_FUNCTION(snowid_from_base62) {
  const text* value = PG_GETARG_TEXT_PP(0);
  core::Id id;
  const core::Status status = core::parse_text(view_of(value), &id);
  if (status != core::Status::kOk) report_text(status, value);
  PG_RETURN_INT64(id.value);
}

SNOWID_FUNCTION(snowid_scatter) { return moved_digits(fcinfo, core::scatter); }

SNOWID_FUNCTION(snowid_unscatter) { return moved_digits(fcinfo, core::unscatter); }

}  // namespace snowid::pg
