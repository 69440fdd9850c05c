// Callbacks for relations that may have changed: dropped, made anew, given other storage, by
// another session or this one; or a transaction that did so has ended.
//
// PostgreSQL has room for ten callbacks of all libraries together, and ends the session that comes
// with an eleventh. So snowid has one, which calls the functions that its rooms subscribe. Belongs
// to one process.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// From now on `forget` is called for each relation that may have changed; relid: InvalidOid for all
// relations. It must not fail, nor read a catalog. To be called once for each function.
void invalidation_subscribe(void (*forget)(Oid relid));

}  // namespace snowid::pg
