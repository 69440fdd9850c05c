// What a database knows of itself as a node of a registry. It lies on the second page of the
// sequence snowid_internal.membership_page, so no rollback undoes it, and no dump, setval or
// replication of sequences knows it. A restored database has no page: then the row of
// snowid_internal.membership, which dumps have, says that it must not issue IDs of shard 0.
//
// In the order of use: who joins, checks or leaves (join.cpp) calls membership_lock(),
// membership_read() and state_of(), changes what was read as the registry answers, and calls
// membership_write() and membership_row_…(). Who draws (node_number.cpp) only reads, until an
// invalidation that is_membership() knows.
//
// Shared: the page, guarded by its buffer's content lock. A session that changes it holds the lock
// that membership_lock() takes; reading does not wait for it.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"

extern "C" {
#include "utils/uuid.h"
}

namespace snowid::pg {

// A number that a registry gives is 1 to the greatest shard of the layout that is used if none is
// named. Shard 0 belongs to databases that have not joined.
inline constexpr int64 kMostNumber = core::kInstagram.max_shard.value;

// The longest name of a node, and identity of a registry, in bytes.
inline constexpr int kLongestName = 255;
inline constexpr int kLongestIdentity = 63;

// snowid.instance_tag: tells this server from a copy of it; an empty string if it is not set.
extern char* instance_tag;

enum class MemberState : uint8_t {
  kNone,      // has never joined
  kJoined,    // the number is its own
  kLeaving,   // has left, and the registry has not said that it has retired the number
  kLeft,      // has left
  kRetired,   // the registry has retired the number
  kReplaced,  // another server has exchanged tokens with the registry since this one was copied
  // These two are not stored, but found when the page is read:
  kMoved,     // joined by another server or database: a copy, an upgraded or a restored one
  kRestored,  // the database is a restored dump of a node
};

// What the last exchange has found, for which the node goes on, and a person must do something.
enum class Finding : uint8_t {
  kNothing,
  kRegistryMoved,  // the registry is another one, or has lost what this node knows
  kPromoted,       // this server was promoted or restored, and nobody has stated that it takes over
  kOtherPromoted,  // such a server has asked the registry about this node's number
};

// What each means, as snowid.node_status shows it and as the DETAIL of a warning.
inline constexpr struct {
  const char* problem;
  const char* detail;
} kFindings[] = {
    {nullptr, nullptr},
    {"registry was restored, promoted, upgraded or moved, and may have lost this number",
     "The registry was restored, promoted, upgraded or moved, and may have lost this number."},
    {"this server was promoted or restored since the registry has confirmed the number",
     "This server was promoted or restored since the registry has confirmed the number."},
    {"another server, which was promoted or restored, uses the number, too",
     "Another server, which was promoted or restored, uses the number, too."},
};

// All 0 if nothing was ever stored.
struct Membership {
  MemberState state;
  Finding finding;
  bool is_claiming;        // a number is being claimed: nobody draws from it yet
  bool is_group_replaced;  // Citus' coordinator lists another server for this node's group
  pg_uuid_t claim;         // proves to the registry that the number is this node's
  int64 number;            // 0 until the registry has answered the claim
  int64 exchange;          // how many tokens have been exchanged
  int64 token;             // the registry has this one,
  int64 next;              // or this one, which was asked for without an answer; 0 if none was
  uint64 system;           // the server and the database that have joined, and the server's tag, as
  Oid database;            // a hash
  uint64 tag;
  TimestampTz checked;                  // when the registry has last confirmed the number
  char registry[kLongestIdentity + 1];  // the identity of the node's registry
  char server[NAMEDATALEN];             // the foreign server over which it has joined
  char node[kLongestName + 1];
};

// Reads the page. Needs a transaction; may be called in a parallel worker and during recovery. A
// caller that remembers the answer subscribes to invalidations before the call, and does not
// remember it during recovery, where a change of the page sends none.
// Raises: 55000 if a relation is missing or was replaced, 0A000 if the page has another version.
Membership membership_read();

// The state that follows from the page, from this server and database, and from the row.
MemberState state_of(const Membership& member);

// Waits until no other transaction changes the page. Kept until the end of the transaction, which
// then cannot be prepared.
void membership_lock();

// Stores the page. It is on disk and on the synchronous standbys when this returns. If the number
// or the state changes, all sessions resolve their number again with their next ID.
// Requires: membership_lock().
// Raises: the wait for standbys can be cancelled; the page may be stored all the same.
void membership_write(const Membership& member);

// Whether the node is this server's and database's; and makes it so.
bool is_bound(const Membership& member);
void membership_bind(Membership* member);

// Inserts or deletes the row of snowid_internal.membership, whose trigger (membership.sql) has all
// sessions read the number again when the transaction commits.
void membership_row_store(const Membership& member);
void membership_row_delete();

// Inserts it unless there is one: a join may have been rolled back, after the page was stored.
void membership_row_require(const Membership& member);

// Whether an invalidation of this relation, InvalidOid for all, says that membership_read() may
// read something else. False before it was called first.
bool is_membership(Oid relid) noexcept;

// Raises 55000 for each state but kJoined, with what can be done. kNone: there is no node.
[[noreturn]] void report_state(const Membership& member);

}  // namespace snowid::pg
