// The SQL functions that scatter IDs, and gather them again. They depend on their arguments alone;
// nothing here is shared.
#include "pg/compat.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

namespace {

// 22023.
[[noreturn]] void report_scatter(core::Status status, int64 id, int32 digits) {
  switch (status) {
    case core::Status::kDigitsOutOfRange:
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("number of digits to move must be between 1 and %d",
                             core::kMostScatterDigits)));
      break;
    case core::Status::kNegativeId:
      ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                      errmsg("negative IDs cannot be scattered")));
      break;
    case core::Status::kTooFewDigits:
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
               errmsg("ID " INT64_FORMAT " has too few digits to move %d of them", id, digits),
               errdetail("They go behind the first one, so at least %d digits are needed.",
                         digits + 1)));
      break;
    case core::Status::kResultOutOfRange:
      ereport(ERROR,
              (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
               errmsg("ID " INT64_FORMAT " with its digits moved is out of range for type bigint",
                      id)));
      break;
    default:
      elog(ERROR, "unexpected status %d", static_cast<int>(status));
  }
  pg_unreachable();
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_scatter);
SNOWID_FUNCTION(snowid_unscatter);

// snowid_scatter(id bigint, digits int) → bigint
Datum snowid_scatter(PG_FUNCTION_ARGS) {
  const int64 id = PG_GETARG_INT64(0);
  const int32 digits = PG_GETARG_INT32(1);
  core::Id scattered;
  const core::Status status = core::scatter({id}, digits, &scattered);
  if (status != core::Status::kOk) report_scatter(status, id, digits);
  PG_RETURN_INT64(scattered.value);
}

// snowid_unscatter(id bigint, digits int) → bigint
Datum snowid_unscatter(PG_FUNCTION_ARGS) {
  const int64 scattered = PG_GETARG_INT64(0);
  const int32 digits = PG_GETARG_INT32(1);
  core::Id id;
  const core::Status status = core::unscatter({scattered}, digits, &id);
  if (status != core::Status::kOk) report_scatter(status, scattered, digits);
  PG_RETURN_INT64(id.value);
}
}
