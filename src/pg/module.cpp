// The module itself: its magic block, what happens when a process loads it, and the list of its
// families. Loading allocates no shared memory, so that it makes no difference whether
// shared_preload_libraries lists the library.
#include "pg/callbacks.hpp"
#include "pg/ceiling/ceiling.hpp"
#include "pg/compat.hpp"
#include "pg/counters/settings.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/node_number.hpp"

extern "C" {
SNOWID_EXPORT const Pg_magic_struct* PG_MAGIC_FUNCTION_NAME(void);
SNOWID_MODULE_MAGIC;

// Declared by fmgr.h from PostgreSQL 16 on.
SNOWID_EXPORT void _PG_init(void);
}

void _PG_init(void) {
  snowid::pg::ceiling_register();
  snowid::pg::ids_register();
  snowid::pg::counter_settings_register();
  snowid::pg::nodes_register();
  snowid::pg::callbacks_register();
  MarkGUCPrefixReserved("snowid");
}
