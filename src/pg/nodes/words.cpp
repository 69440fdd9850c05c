// Reading and storing the words. See words.hpp.
#include "pg/nodes/words.hpp"

#include "pg/base/locks.hpp"
#include "pg/base/random.hpp"
#include "pg/database/database.hpp"
#include "pg/server/extension.hpp"
#include "pg/server/own_table.hpp"
#include "pg/server/sequence_page.hpp"

// The version of the page's form: of StoredWords, and of what its fields mean.
#define SNOWID_MEMBERSHIP_PAGE 1

namespace snowid::pg {

namespace {

constexpr char kSequence[] = "membership_words";

// What the second page has in its special space.
struct StoredWords {
  uint32 version;  // SNOWID_MEMBERSHIP_PAGE
  Words words;
};

static_assert(sizeof(StoredWords) == 96);

Oid sequence_oid = InvalidOid;

Relation open_sequence(LOCKMODE lock) {
  Relation sequence = own_sequence_open(kSequence, lock);
  sequence_oid = RelationGetRelid(sequence);
  return sequence;
}

StoredWords* StoredWordsOn(Page page) {
  return reinterpret_cast<StoredWords*>(PageGetSpecialPointer(page));
}

// What is stored, all of it 0 where nothing was.
StoredWords stored_words_read() {
  StoredWords stored{SNOWID_MEMBERSHIP_PAGE, {}};
  Relation sequence = open_sequence(AccessShareLock);
  if (RelationGetNumberOfBlocks(sequence) > kSecondBlock) {
    Buffer buffer = ReadBuffer(sequence, kSecondBlock);
    LockBuffer(buffer, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    // Made, and never stored in.
    if (!PageIsNew(page)) stored = *StoredWordsOn(page);
    UnlockReleaseBuffer(buffer);
  }
  relation_close(sequence, AccessShareLock);
  return stored;
}

// 0A000.
void require_version(const StoredWords& stored) {
  if (stored.version == SNOWID_MEMBERSHIP_PAGE) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
       errmsg("the membership of this node is stored in version %u of its form, and this "
              "library knows version %d",
              stored.version, SNOWID_MEMBERSHIP_PAGE),
       errhint("Install the version of %s that has written it, or a later one.", kExtensionName)));
}

// Whether a row of snowid_internal.membership may be in another state by these words.
bool MeansAnother(const Words& before, const Words& words) {
  return before.state != words.state || before.copy_of != words.copy_of ||
         before.is_replaced != words.is_replaced || before.incarnation != words.incarnation;
}

// Makes all sessions resolve their number anew at once, and not only when this transaction commits,
// which may be about to fail: those that have attached by the shared word, the others by an
// invalidation.
void invalidate_in_all_sessions() {
  recheck_may_issue();
  SharedInvalidationMessage message{};
  message.rc.id = SHAREDINVALRELCACHE_ID;
  message.rc.dbId = MyDatabaseId;
  message.rc.relId = sequence_oid;
  SendSharedInvalidMessages(&message, 1);
  AcceptInvalidationMessages();
}

}  // namespace

int64 next_token(int64 count) {
  uint32 random;
  fetch_random(&random, sizeof(random));
  return std::min(count + 1, int64{PG_INT32_MAX}) << 32 | random;
}

Words words_read() {
  const StoredWords stored = stored_words_read();
  require_version(stored);
  return stored.words;
}

bool words_are_known() { return stored_words_read().version == SNOWID_MEMBERSHIP_PAGE; }

void words_write(const Words& words) {
  AssertHoldsNone();
  Relation sequence = open_sequence(RowExclusiveLock);
  second_page_extend(sequence);
  Buffer buffer = ReadBuffer(sequence, kSecondBlock);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState* change = GenericXLogStart(sequence);
  // As a whole: recovery has no page yet where it was never logged.
  Page page = GenericXLogRegisterBuffer(change, buffer, GENERIC_XLOG_FULL_IMAGE);
  if (PageIsNew(page)) PageInit(page, BLCKSZ, sizeof(StoredWords));
  const bool is_change = MeansAnother(StoredWordsOn(page)->words, words);
  *StoredWordsOn(page) = {SNOWID_MEMBERSHIP_PAGE, words};
  const XLogRecPtr lsn = GenericXLogFinish(change);
  UnlockReleaseBuffer(buffer);
  // Before it is durable: at worst the number is refused where it need not be.
  if (is_change) invalidate_in_all_sessions();
  sequence_make_durable(lsn);
  relation_close(sequence, RowExclusiveLock);
}

Oid words_relid() { return sequence_oid; }
}  // namespace snowid::pg
