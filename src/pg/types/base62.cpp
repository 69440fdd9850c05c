// SQL functions for IDs in base 62. Nothing is shared.
#include "pg/postgres.hpp"

#include "core/text.hpp"
#include "core/types.hpp"
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

}  // namespace snowid::pg
