// A database's own membership in a registry. It is stored on the second page of the sequence
// snowid_internal.membership_page: no rollback undoes it, and no dump, setval or replication of
// sequences copies it. A restored database has no page: then the dumped row of
// snowid_internal.membership tells it not to issue IDs of shard 0.
//
// In the order of use: to join, check or leave, join.cpp calls membership_lock(), membership_read()
// and state_of(), changes the result as the registry answers, and calls membership_write() and
// membership_row_…(). To issue IDs, node_number.cpp reads it again after an invalidation.
//
// Shared: the page, guarded by its buffer's content lock. A session changes it under
// membership_lock(); readers do not wait for this lock.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"

extern "C" {
#include "utils/uuid.h"
}

namespace snowid::pg {

// Numbers of a registry are 1 to the greatest shard of the default layout. Shard 0: no node number.
inline constexpr int64 kMostNumber = core::kInstagram.max_shard.value;

// Maximum lengths in bytes.
inline constexpr int kLongestName = 255;
inline constexpr int kLongestIdentity = 63;

// snowid.instance_tag: distinguishes this server from a copy of it; empty if not set.
extern char* instance_tag;

enum class MemberState : uint8_t {
  kNone,      // never joined
  kJoined,    // the node number is its own
  kLeaving,   // left; the registry has not confirmed the retirement of the node number
  kLeft,      // left
  kRetired,   // the registry has retired the node number
  kReplaced,  // since this server was copied, another one has exchanged tokens with the registry
  // Not stored, but found by state_of():
  kMoved,     // joined by another server or database: this is a copy, upgraded or restored
  kRestored,  // the database is a restored dump of a node
};

// Result of the last exchange if the node may continue but an administrator must act.
enum class Finding : uint8_t {
  kNothing,
  kRegistryMoved,  // the registry is another one, or has lost what this node stored
  kPromoted,       // this server was promoted or restored, and no takeover was stated
  kOtherPromoted,  // such a server has asked the registry for this node's number
};

// As in snowid.node_status and as DETAIL of a warning.
inline constexpr const char* kFindings[] = {
    nullptr,
    "The registry was restored, promoted, upgraded or moved, and may have lost this number.",
    "This server was promoted or restored since the registry has confirmed the number.",
    "Another server, which was promoted or restored, uses the number, too."};

// All 0 if never stored.
struct Membership {
  MemberState state;
  Finding finding;
  bool is_claiming;        // a node number is being claimed, and not used yet
  bool is_group_replaced;  // Citus' coordinator lists another server for this node's group
  pg_uuid_t claim;         // proves to the registry the ownership of the node number
  int64 number;            // 0 until the registry has answered the claim
  int64 exchange;          // number of tokens exchanged
  int64 token;             // the registry has this token,
  int64 next;              // or this one, requested without an answer; 0 if none was
  uint64 system;           // system identifier of the joined server
  Oid database;            // the joined database
  uint64 tag;              // hash of snowid.instance_tag of the joined server
  TimestampTz checked;     // last confirmation by the registry
  char registry[kLongestIdentity + 1];  // the registry's identity
  char server[NAMEDATALEN];             // the foreign server of the registry
  char node[kLongestName + 1];
};

// Reads the page. May be called in a parallel worker and during recovery. To store the answer, a
// caller must subscribe to invalidations before; during recovery it must not, because changes of
// the page send none. Requires: a transaction. Raises: 55000 if a relation is missing or was
// replaced; 0A000 if the page has another version.
Membership membership_read();

// By the page, this server and database, and the row.
MemberState state_of(const Membership& member);

// Locks the page for changes until the end of the transaction, which then cannot be prepared.
void membership_lock();

// Stores the page durably, on disk and on the synchronous standbys. All sessions resolve their
// number again before their next ID. Requires: membership_lock(). Raises: a cancel of the wait for
// standbys, with the page possibly stored.
void membership_write(const Membership& member);

// Whether the node is of this server and database; and makes it so.
bool is_bound(const Membership& member);
void membership_bind(Membership* member);

// Store or delete the row of snowid_internal.membership. If it changes, its trigger
// (membership.sql) has all sessions read the number again when the transaction commits.
void membership_row_store(const Membership& member);
void membership_row_delete();

// Raises: 55000. kNone: the database is not a node.
[[noreturn]] void report_state(const Membership& member);

}  // namespace snowid::pg
