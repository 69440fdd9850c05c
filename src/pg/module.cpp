// The module itself: its magic block and what happens when a process loads it. Loading allocates no
// shared memory, so that it makes no difference whether shared_preload_libraries lists the library.
#include "pg/compat.hpp"
#include "pg/discard.hpp"
#include "pg/prelude.hpp"
#include "pg/settings.hpp"

extern "C" {
SNOWID_EXPORT const Pg_magic_struct* PG_MAGIC_FUNCTION_NAME(void);
SNOWID_MODULE_MAGIC;

// Declared by fmgr.h from PostgreSQL 16 on.
SNOWID_EXPORT void _PG_init(void);
}

void _PG_init(void) {
  snowid::pg::settings_register();
  snowid::pg::discard_register();
}
