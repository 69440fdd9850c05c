// PostgreSQL's strong source of random bytes. Nothing here is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// Fills `size` bytes at `to`. Fails with XX000, as gen_random_uuid() does.
inline void fetch_random(void* to, Size size) {
  if (unlikely(!pg_strong_random(to, size)))
    ereport(ERROR, (errcode(ERRCODE_INTERNAL_ERROR), errmsg("could not generate random values")));
}

}  // namespace snowid::pg
