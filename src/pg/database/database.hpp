// What the sessions of a database that issues IDs share: its ceiling, its slots, whether it may
// issue IDs, and the node's number.
#pragma once

#include "pg/database/entry.hpp"
#include "pg/database/shared_number.hpp"
#include "pg/database/slots.hpp"
