// This node's group in Citus, unique in the cluster. It is read, never stored, because clones,
// standbys and dumps would copy it. Citus gives a promoted clone a group of its own, and a promoted
// standby the group of its primary.
//
// Reads Citus' tables under AccessShareLock, released at once. Nothing is shared.
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
  // Whether the node is valid until is_citus_group() or is_citus_change() returns true; otherwise
  // only in this transaction: it may change without an invalidation.
  bool is_lasting;
};

// Requires: a transaction; a parallel worker and recovery are fine.
CitusNode citus_read();

// Raises: 55000, because Citus is installed and the group is unknown.
[[noreturn]] void report_no_group(CitusState state);
// Raises: 55000 if Citus is installed, which gives the nodes of its cluster their numbers.
void require_no_citus();
// Raises: 55000, because the coordinator lists another server, see Membership::is_group_replaced.
[[noreturn]] void report_replaced(int32 group);

// Has the coordinator confirm this server as the one of its group, which is returned. Otherwise
// marks the database durably, until a later check succeeds. Raises: 55000 if the coordinator lists
// another server, or Citus gives no group; errors of snowid.is_server_of_group().
int32 citus_check_group(const CitusNode& citus);

// Whether an invalidation of this relation, or of this hash of a pg_class row, may change the
// result of citus_read(). False before its first call.
bool is_citus_group(Oid relid) noexcept;
bool is_citus_change(uint32 hash) noexcept;

}  // namespace snowid::pg
