// Values of SQL's type text as std::string_view. Nothing here is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The bytes of a text that is not toasted (PG_GETARG_TEXT_PP), for as long as it is there. They are
// in the database's encoding and do not end with a zero.
inline std::string_view view_of(const text* value) {
  return {VARDATA_ANY(value), static_cast<size_t>(VARSIZE_ANY_EXHDR(value))};
}

}  // namespace snowid::pg
