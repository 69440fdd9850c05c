// Whether this database may issue IDs at all: one that was found to be a copy of another may not.
//
// Shared: Database::may_issue, stored with Ceiling::lock held. Before it is set to false
// Ceiling::alert_us is 0, so that each session's next ID takes the slow path.
#pragma once

#include "pg/database/entry.hpp"

namespace snowid::pg {

// Set by the room that knows which databases are copies. fails: whether to fail where this database
// may issue no IDs. It may look at catalogs.
extern bool (*may_issue_hook)(bool fails);

// Calls the hook, and notes in shared memory if it returns true: it need not be called again before
// recheck_may_issue(). In a transaction that has changed the node's number nothing is noted. Fails
// as the hook does.
void check_may_issue(bool fails);

}  // namespace snowid::pg
