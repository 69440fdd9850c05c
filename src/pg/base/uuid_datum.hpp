// UUIDs as arguments and results of SQL functions. Nothing here is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// In the current memory context.
inline Datum uuid_datum(core::Uuid uuid) {
  auto* made = static_cast<pg_uuid_t*>(palloc(sizeof(pg_uuid_t)));
  const uint64 words[] = {pg_hton64(uuid.high), pg_hton64(uuid.low)};
  static_assert(sizeof(words) == sizeof(made->data));
  memcpy(made->data, words, sizeof(words));
  return UUIDPGetDatum(made);
}

inline core::Uuid uuid_arg(FunctionCallInfo fcinfo, int number) {
  uint64 words[2];
  memcpy(words, PG_GETARG_UUID_P(number)->data, sizeof(words));
  return {pg_ntoh64(words[0]), pg_ntoh64(words[1])};
}

}  // namespace snowid::pg
