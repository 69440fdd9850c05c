// This node's group in Citus, unique in the cluster. It is never stored, because clones, standbys
// and dumps would copy it. Citus gives a promoted clone a group of its own, and a promoted standby
// its primary's. Citus' tables are read under AccessShareLock, released at once. Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

enum class CitusState : uint8_t {
  kNone,            // Citus is not installed in this database
  kNumbered,        // the group is the node number
  kNoRow,           // the table of the group is empty
  kAltered,         // the table is not as Citus creates it
  kUnsynchronized,  // a session of Citus itself, on a node it has not synchronized yet
};

struct CitusNode {
  CitusState state;
  int32 group;  // 0 or more if kNumbered
  // Whether it is valid until a relcache invalidation, which creating the tables also sends;
  // otherwise only in this transaction, because it may change without one.
  bool is_lasting;
};

// Requires: a transaction.
CitusNode citus_read();

// Raises: 55000, for a Citus without a group.
[[noreturn]] void report_no_group(CitusState state);
// Raises: 55000 if Citus is installed, which numbers the nodes of its cluster.
void require_no_citus();
// Raises: 55000, for Membership::is_group_replaced.
[[noreturn]] void report_replaced(int32 group);

// Has the coordinator confirm this server for its group, which is returned; otherwise marks the
// database durably, until a later check succeeds. Raises: 55000 if the coordinator lists another
// server, or Citus gives no group; errors of snowid_internal.is_server_of_group().
int32 citus_check_group(const CitusNode& citus);

}  // namespace snowid::pg
