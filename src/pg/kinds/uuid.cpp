// The SQL functions of UUIDs: making those of version 7, reading their time, and those that hold an
// ID.
//
// Shared: snowid_uuidv7() draws from one slot that all sessions of the server share, whatever their
// database. The random bytes belong to one process.
#include "pg/base/clock.hpp"
#include "pg/base/errors.hpp"
#include "pg/base/layout_type.hpp"
#include "pg/base/random.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"

namespace snowid::pg {

namespace {

CommonPlace uuid_place;

// Random bytes are fetched many at a time, since each fetch costs more than the bytes. Each is used
// once, and overwritten.
class RandomPool {
 public:
  uint64 take() {
    if (unlikely(left_ == 0)) {
      fetch_random(numbers_, sizeof(numbers_));
      left_ = lengthof(numbers_);
    }
    left_--;
    const uint64 number = numbers_[left_];
    numbers_[left_] = 0;
    return number;
  }

 private:
  uint64 numbers_[64];
  int left_;
};

RandomPool random_pool;

Datum uuid_datum(core::Uuid uuid) {
  auto* made = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  const uint64 words[] = {pg_hton64(uuid.high), pg_hton64(uuid.low)};
  static_assert(sizeof(words) == sizeof(made->data));
  memcpy(made->data, words, sizeof(words));
  return UUIDPGetDatum(made);
}

core::Uuid uuid_arg(FunctionCallInfo fcinfo, int number) {
  uint64 words[2];
  memcpy(words, PG_GETARG_UUID_P(number)->data, sizeof(words));
  return {pg_ntoh64(words[0]), pg_ntoh64(words[1])};
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_uuidv7);
SNOWID_FUNCTION(snowid_uuid_timestamp);
SNOWID_FUNCTION(snowid_to_uuid);
SNOWID_FUNCTION(snowid_from_uuid);

// snowid_uuidv7() → uuid
Datum snowid_uuidv7(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_read_write("snowid_uuidv7()");
  if (unlikely(!common_is_ready(uuid_place))) common_make_ready(core::kUuid7, &uuid_place, {0});
  const uint64 random = random_pool.take();
  return uuid_datum(core::Uuid7Of(issue_common(core::kUuid7, uuid_place), random));
}

// snowid_uuid_timestamp(uuid) → timestamptz, or null
Datum snowid_uuid_timestamp(PG_FUNCTION_ARGS) {
  core::UnixMicros moment;
  if (TimeOfUuid(uuid_arg(fcinfo, 0), &moment) != core::Status::kOk) PG_RETURN_NULL();
  PG_RETURN_TIMESTAMPTZ(to_timestamptz(moment));
}

// snowid_to_uuid(id bigint, layout snowid_layout) → uuid
Datum snowid_to_uuid(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Uuid uuid;
  const core::Status status = ToUuid(layout, {PG_GETARG_INT64(0)}, &uuid);
  if (status != core::Status::kOk) report_status(layout, status);
  return uuid_datum(uuid);
}

// snowid_from_uuid(uuid uuid, layout snowid_layout) → bigint
Datum snowid_from_uuid(PG_FUNCTION_ARGS) {
  const core::Layout& layout = layout_arg(fcinfo, 1);
  core::Id id;
  if (FromUuid(layout, uuid_arg(fcinfo, 0), &id) != core::Status::kOk)
    ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("UUID holds no ID of layout \"%s\"", layout_text(layout.spec)),
                    errdetail("Only UUIDs that snowid_to_uuid() has made with this layout do.")));
  PG_RETURN_INT64(id.value);
}
}
