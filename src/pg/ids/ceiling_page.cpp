// Reading and raising both pages. See ceiling_page.hpp.
#include "pg/ids/ceiling_page.hpp"

namespace snowid::pg {

namespace {

constexpr BlockNumber kKeptBlock = 1;

// What the second page has in its special space. To a scan of the sequence the page is empty.
struct Kept {
  int64 ceiling;  // in Unix milliseconds
};

// nullptr where the page was made and nothing has been stored in it.
const Kept* KeptOn(const CeilingPage& page) {
  if (!BufferIsValid(page.kept) || PageIsNew(BufferGetPage(page.kept))) return nullptr;
  return reinterpret_cast<const Kept*>(PageGetSpecialPointer(BufferGetPage(page.kept)));
}

}  // namespace

CeilingPage ceiling_page_lock(Relation relation) {
  CeilingPage page{sequence_page_lock(relation), InvalidBuffer};
  if (RelationGetNumberOfBlocks(relation) <= kKeptBlock) return page;
  page.kept = ReadBuffer(relation, kKeptBlock);
  LockBuffer(page.kept, BUFFER_LOCK_EXCLUSIVE);
  return page;
}

CeilingPage ceiling_page_lock_of(Form_pg_class form, Relation log_as) {
  constexpr bool kIsPermanent = true;
  CeilingPage page{sequence_page_lock_of(form, log_as), InvalidBuffer};
  const FileLocator storage = storage_of(form);
  if (block_count(storage) <= kKeptBlock) return page;
  page.kept = ReadBufferWithoutRelcache(storage, MAIN_FORKNUM, kKeptBlock, RBM_NORMAL, nullptr,
                                        kIsPermanent);
  LockBuffer(page.kept, BUFFER_LOCK_EXCLUSIVE);
  return page;
}

void ceiling_page_unlock(const CeilingPage& page) {
  if (BufferIsValid(page.kept)) UnlockReleaseBuffer(page.kept);
  sequence_page_unlock(page.sequence);
}

void ceiling_page_extend(Relation relation) {
  if (RelationGetNumberOfBlocks(relation) > kKeptBlock) return;
  LockRelationForExtension(relation, ExclusiveLock);
  if (RelationGetNumberOfBlocks(relation) <= kKeptBlock)
    UnlockReleaseBuffer(
        ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK, nullptr));
  UnlockRelationForExtension(relation, ExclusiveLock);
}

core::UnixMillis CeilingOn(const CeilingPage& page) {
  const core::UnixMillis value{SequencePageValue(page.sequence).last};
  const Kept* kept = KeptOn(page);
  return kept == nullptr ? value : std::max(value, core::UnixMillis{kept->ceiling});
}

bool AreAlike(const CeilingPage& page) {
  const Kept* kept = KeptOn(page);
  return kept == nullptr || kept->ceiling == SequencePageValue(page.sequence).last;
}

XLogRecPtr ceiling_page_set(const CeilingPage& page, core::UnixMillis value) {
  GenericXLogState* change = GenericXLogStart(page.sequence.relation);
  sequence_page_store(page.sequence, change, value.value, true);
  if (BufferIsValid(page.kept)) {
    Page kept = GenericXLogRegisterBuffer(change, page.kept, GENERIC_XLOG_FULL_IMAGE);
    PageInit(kept, BLCKSZ, sizeof(Kept));
    reinterpret_cast<Kept*>(PageGetSpecialPointer(kept))->ceiling = value.value;
  }
  return GenericXLogFinish(change);
}

core::UnixMillis ceiling_of(Relation relation) {
  const CeilingPage page = ceiling_page_lock(relation);
  const core::UnixMillis value = CeilingOn(page);
  ceiling_page_unlock(page);
  return value;
}

}  // namespace snowid::pg
