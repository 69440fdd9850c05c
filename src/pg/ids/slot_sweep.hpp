// Removing slots that nobody uses, so that others can be made: of a server, a database or a role
// that has as many as it may.
//
// Shared: the entries of the tables "databases", "slots" and "shard events", locked as slots.hpp
// says.
#pragma once

#include "pg/ids/slots.hpp"
#include "pg/shared/quota.hpp"

namespace snowid::pg {

// The bounds of slots, and the accounts that count them.
extern Quota slot_quota;

// Removes slots that nobody uses and that count for the bound, and those of dropped databases. For
// quota_require_room(). Fails where memory is refused, and as reading catalogs does.
void slots_sweep(Bound bound);

}  // namespace snowid::pg
