// This node's group in Citus: a number that no other node of the cluster has. It is looked up,
// never stored. Clones, standbys and dumps would copy what is stored. Citus, however, gives a clone
// a group of its own when it is promoted, and a promoted standby that of its primary.
//
// Reads Citus' tables under AccessShareLock, which it releases at once. Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

namespace snowid::pg {

enum class CitusState : uint8_t {
  kNone,            // Citus is not installed in this database
  kNumbered,        // the group is this node's number
  kNoRow,           // the table of the group is empty
  kAltered,         // it is not as Citus makes it
  kUnsynchronized,  // this session is Citus' own, on a node that it has not synchronized yet
};

struct CitusNode {
  CitusState state;
  int32 group;  // 0 or more where it is kNumbered
  // Whether all of it holds until is_citus_group() or is_citus_change() says otherwise; if not, it
  // may be another in the next transaction, without an invalidation.
  bool is_lasting;
};

// Needs a transaction; may be called in a parallel worker and during recovery.
CitusNode citus_read();

// 55000: Citus is there, and this node's number is not.
[[noreturn]] void report_no_group(CitusState state);
// 55000: Citus gives the nodes of its cluster their numbers.
void require_no_citus();
// 55000: the coordinator uses another server as the group's, see Membership::is_group_replaced.
[[noreturn]] void report_replaced(int32 group);

// Has the coordinator confirm that this server is that of its group, which is returned. Where it is
// not, the database is marked, durably, until a later check finds that it is.
// Raises: 55000 if another server is, or Citus gives no group; what snowid.is_server_of_group()
// does.
int32 citus_check_group(const CitusNode& citus);

// Whether this is the relation, or this hash that of the row of pg_class, whose invalidation says
// that citus_read() may say something else. False before it was first called.
bool is_citus_group(Oid relid) noexcept;
bool is_citus_change(uint32 hash) noexcept;

}  // namespace snowid::pg
