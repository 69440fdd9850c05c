// The module itself: its magic block, what happens when a process loads it, and the list of its
// families. Loading allocates no shared memory, so that it makes no difference whether
// shared_preload_libraries lists the library.
#include "pg/ceiling/ceiling.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counters.hpp"
#include "pg/ids/ids.hpp"
#include "pg/kinds/kinds.hpp"
#include "pg/moves/moves.hpp"
#include "pg/nodes/nodes.hpp"
#include "pg/rewind/rewind.hpp"

extern "C" {
SNOWID_EXPORT const Pg_magic_struct* PG_MAGIC_FUNCTION_NAME(void);
SNOWID_MODULE_MAGIC;

// Declared by fmgr.h from PostgreSQL 16 on.
SNOWID_EXPORT void _PG_init(void);
}

void _PG_init(void) {
  snowid::pg::ceiling_register();
  snowid::pg::ids_register();
  snowid::pg::rewind_register();
  snowid::pg::counters_register();
  snowid::pg::kinds_register();
  snowid::pg::nodes_register();
  snowid::pg::moves_register();
  MarkGUCPrefixReserved("snowid");
}
