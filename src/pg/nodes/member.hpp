// A database's own membership: what it has stored of it, and what it changes. See membership.hpp
// for what other files may see.
//
// Shared: the row of snowid.membership, and two sequences whose pages are words that no rollback
// takes back. Whoever changes any of them holds the table's ShareRowExclusiveLock, which
// member_lock() takes, and the row goes back with the transaction. So the words are what counts:
//
// - kMark is an incarnation, in its upper half, and in its lower half a random number, or one of
//   those below kLeastNonce. A row whose incarnation is another is not true, or not any more. With
//   a random number it is a token: one that the registry may know by now.
// - kToken is the token that the registry is known to have.
//
// The registry is told a token only once it is in kMark durably. So whatever is rolled back or
// crashes, and whichever answer is lost, the registry has one of the two; and of two copies of this
// database only that has, whose token it was told last.
#pragma once

#include "pg/nodes/membership.hpp"
#include "pg/prelude.hpp"

namespace snowid::pg {

// A number that a registry gives: 1 to the greatest shard of the layout that is used where none is
// named. 0 is what is drawn from without joining.
inline constexpr int64 kMostNumber = core::kInstagram.max_shard.value;

enum class Word : uint8_t { kMark, kToken };

// The lower half of a mark: 0 is none.
inline constexpr int64 kLeavingNonce = 1;
inline constexpr int64 kCopyNonce = 2;
inline constexpr int64 kLeastNonce = 16;

constexpr int64 MarkOf(int64 incarnation, int64 nonce) { return incarnation << 32 | nonce; }
constexpr int64 IncarnationOf(int64 mark) { return mark >> 32; }
constexpr int64 NonceOf(int64 mark) { return mark & 0xffffffff; }

// An incarnation that no row has had, 1 to 2^31 - 1: odd for a claim, even for taking over, so that
// what a take-over has left that came to no end is not taken for a claim whose answer was lost. And
// a token with it, which nobody knows.
enum class Use : uint8_t { kTakeOver, kClaim };
int64 new_incarnation(Use use);
constexpr bool IsOfClaim(int64 incarnation) { return incarnation % 2 == 1; }
int64 new_token(int64 incarnation);

// The row of snowid.membership and what it means. Without one the fields are 0 or nullptr.
struct Member : Membership {
  const char* secret;
  int64 incarnation;
};

// Opens the table in ShareRowExclusiveLock, which the transaction keeps: there is one change at a
// time. Close it with NoLock. Fails as own_table_open() does.
Relation member_lock();

// Reads the row, in the current memory context, as it is now: the caller's snapshot may be older.
Member member_read(Relation table);

// Stores the row in place of the one that is there, if any, as this server's and database's, and as
// checked now. It counts where its incarnation is that of kMark. is_new: whether it has joined now.
void member_store(Relation table, const Member& member, bool is_new);
// Deletes it.
void member_delete(Relation table);

int64 word_read(Word word);

// Stores the word. It is on disk, and on the synchronous standbys, when this returns. Fails where
// the wait for those is cancelled; then it may be stored all the same. With kMark and a nonce that
// is no token, all sessions go by it with their next draw.
void word_write(Word word, int64 value);

// Waits until all transactions of this database that were running when it was called have come to
// their end, which is when nobody goes by a mark that was there before; with a NOTICE where there
// are any. Interruptible. Fails with 40P01 where they wait for this one.
void wait_for_transactions();

}  // namespace snowid::pg
