// The entry of a database that issues IDs. Its sessions share it: whether the database may issue
// IDs, and the node's number. This is all that other rooms see of it.
#pragma once

#include "pg/database/entry.hpp"
#include "pg/database/may_issue.hpp"
#include "pg/database/shared_number.hpp"
