// The words: what a database stores of its membership beside the row of snowid_internal.membership.
// No rollback undoes them. setval, dumps and the replication of sequences do not know them. They
// are on the second page of the sequence snowid_internal.membership_words, whose own value means
// nothing. A restored database has no words, and so it is not the one that has joined.
//
// Shared: the page, guarded by its buffer's content lock. A session that changes it has called
// member_lock().
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// A token is what the registry and the node know of each other: in its upper half how many
// exchanges there have been, in its lower half a random number, so that of two copies of a node
// each makes another one.
constexpr int64 CountOf(int64 token) { return token >> 32; }

// The token of the exchange that comes after one with this count. Above the greatest count, which a
// registry may have lied about, there is none: then tokens differ by the random number alone.
int64 next_token(int64 count);

enum class WordsState : uint32 {
  kNone,      // nothing was ever stored, or the database has left
  kClaiming,  // a number is being claimed with the secret and the token
  kJoined,    // the row with the same incarnation is true
  kLeft,      // it is not any more: the number is retired
};

struct Words {
  WordsState state;
  bool is_replaced;   // Citus' coordinator goes by another server as this node's group's
  int64 incarnation;  // of the row that they are about, 1 or more
  int64 copy_of;      // the row whose number another server goes by, as the registry has found
  int64 known;        // the token that the registry is known to have
  int64 asked;        // the one that it may have by now
  char secret[48];    // of the claim, what proves that the number is this node's; empty without one
};

// Reads them; all are 0 where nothing was stored. Fails with 55000 where the relation is missing or
// was altered, and with 0A000 where the page is of another version.
Words words_read();

// Whether the page is of the version that this library knows.
bool words_are_known();

// Stores them. Where that changes the state of a row, all sessions resolve their number anew with
// their next draw. They are on disk, and on the synchronous standbys, when this returns. Fails
// where the wait for those is cancelled; then they may be stored all the same.
void words_write(const Words& words);

// The relation that words_read() was last called with, InvalidOid before.
Oid words_relid();

}  // namespace snowid::pg
