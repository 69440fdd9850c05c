// Whether this database may issue IDs at all: one that was found to be a copy of another may not.
//
// Shared: Database::may_issue, stored with Ceiling::lock held. Before it is set to false
// Ceiling::alert_us is 0, so that each session's next ID takes the slow path.
#pragma once

#include "pg/database/entry.hpp"

namespace snowid::pg {

// Whether this database may issue IDs, by what it knows of itself as a node. fails: whether to
// raise 55000 if it may not. May look at catalogs. Defined in nodes/number.cpp.
bool node_may_issue(bool fails);

// Calls node_may_issue(), and notes in shared memory if it returns true: it need not be called
// again before recheck_may_issue(). In a transaction that has changed the node's number nothing is
// noted. Raises 55000 as node_may_issue() does.
void check_may_issue(bool fails);

}  // namespace snowid::pg
