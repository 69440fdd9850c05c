// What the room registers, and its SQL functions. See ceiling.hpp.
#include "pg/ceiling/ceiling.hpp"

#include "pg/clock.hpp"

namespace snowid::pg {

void ceiling_register() { ceiling_settings_register(); }

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_carry_ceiling_over);
SNOWID_FUNCTION(snowid_ceiling);

// snowid_internal.carry_ceiling_over() → void: stores the ceiling that this server knows in the
// sequence.
Datum snowid_carry_ceiling_over(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  ceiling_carry_over();
  shared_number_change_with_transaction();
  PG_RETURN_VOID();
}

// snowid_ceiling() → timestamptz
Datum snowid_ceiling(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  PG_RETURN_TIMESTAMPTZ(to_timestamptz(micros_of(ceiling_read().ceiling)));
}
}
