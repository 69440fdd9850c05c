// Whether this database has joined a registry, and as which node.
//
// Shared: the row of snowid_internal.membership, and the words of words.hpp, see member.hpp. They
// are changed under the lock of member_lock(), and read without waiting for it.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// snowid.server_key: what tells this server from a copy of it, an empty string for nothing. A row
// is bound to the one with which it was stored.
extern char* server_key;

enum class MemberState : uint8_t {
  kNone,    // it has joined no registry, or has left it
  kJoined,  // the number is its own
  kMoved,   // another server, or another database, than the one that joined: a restore, or a copy;
            // also where a restore or a rollback has brought back a row that is not true any more
  kCopy,    // the registry has found that another server goes by this number
  kLeft,    // the number is retired, and the row is still there: what deletes it was rolled back
};

struct Membership {
  MemberState state;
  int64 number;        // 0 where it has none
  const char* node;    // the next two are nullptr where it has joined none
  const char* server;  // the foreign server that it joined over
};

// Reads them, in the current memory context. Fails with 55000 where a relation is missing or was
// altered. Needs a transaction; may be called in a parallel worker and during recovery. A caller
// that remembers the answer has to subscribe to invalidations before the call, so that none is
// lost; and must not remember it during recovery, where a change of the page sends none.
Membership membership_read();

// The relations whose invalidation says that membership_read() may say something else. InvalidOid
// before membership_read() was first called.
bool IsMembership(Oid relid);

// 55000, for each state but kJoined: what is the matter, and what can be done.
[[noreturn]] void report_membership(const Membership& member);

}  // namespace snowid::pg
