// Commits that must not be lost. See durable_commit.hpp.
#include "pg/nodes/durable_commit.hpp"

namespace snowid::pg {

void require_durable_commit() {
  if (synchronous_commit < SYNCHRONOUS_COMMIT_REMOTE_FLUSH)
    set_config_option("synchronous_commit", "on", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_LOCAL,
                      true, 0, false);
}

}  // namespace snowid::pg
