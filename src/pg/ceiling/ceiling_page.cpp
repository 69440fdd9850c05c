// Reading and raising both pages. See ceiling_page.hpp.
#include "pg/ceiling/ceiling_page.hpp"

#include "pg/server/extension.hpp"

// The version of the second page's form: of Kept, and of what its fields mean.
#ifndef SNOWID_CEILING_PAGE
#define SNOWID_CEILING_PAGE 1
#endif

namespace snowid::pg {

namespace {

// What the second page has in its special space. To a scan of the sequence the page is empty.
struct Kept {
  uint32 version;     // SNOWID_CEILING_PAGE
  uint32 wild_count;  // of wild
  int64 ceiling;      // in Unix milliseconds
  core::Wild wild[core::WildTimes::kMost];
};

// It fits the smallest block that PostgreSQL can be built with, 1 kB.
static_assert(sizeof(Kept) == 528);
static_assert(SizeOfPageHeaderData + MAXALIGN(sizeof(Kept)) <= 1024);

// nullptr where the page was made and nothing has been stored in it.
const Kept* kept_on(const CeilingPage& page) {
  if (!BufferIsValid(page.kept) || PageIsNew(BufferGetPage(page.kept))) return nullptr;
  const auto* kept = reinterpret_cast<const Kept*>(PageGetSpecialPointer(BufferGetPage(page.kept)));
  if (kept->version != SNOWID_CEILING_PAGE)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("the ceiling of IDs is stored in version %u of its form, and this "
                           "library knows version %d",
                           kept->version, SNOWID_CEILING_PAGE),
                    errhint("Install the version of %s that has written it, or a later one.",
                            kExtensionName)));
  return kept;
}

}  // namespace

CeilingPage ceiling_page_lock(Relation relation) {
  CeilingPage page{sequence_page_lock(relation), InvalidBuffer};
  if (RelationGetNumberOfBlocks(relation) <= kSecondBlock) return page;
  page.kept = ReadBuffer(relation, kSecondBlock);
  LockBuffer(page.kept, BUFFER_LOCK_EXCLUSIVE);
  return page;
}

CeilingPage ceiling_page_lock_of(Form_pg_class form, Relation log_as) {
  constexpr bool kIsPermanent = true;
  CeilingPage page{sequence_page_lock_of(form, log_as), InvalidBuffer};
  const FileLocator storage = storage_of(form);
  if (block_count(storage) <= kSecondBlock) return page;
  page.kept = ReadBufferWithoutRelcache(storage, MAIN_FORKNUM, kSecondBlock, RBM_NORMAL, nullptr,
                                        kIsPermanent);
  LockBuffer(page.kept, BUFFER_LOCK_EXCLUSIVE);
  return page;
}

void ceiling_page_unlock(const CeilingPage& page) {
  if (BufferIsValid(page.kept)) UnlockReleaseBuffer(page.kept);
  sequence_page_unlock(page.sequence);
}

CeilingKept ceiling_page_read(const CeilingPage& page) {
  const core::UnixMillis value{SequencePageValue(page.sequence).last};
  const Kept* kept = kept_on(page);
  CeilingKept read{value, value, true, {}};
  if (kept == nullptr) return read;
  read.ceiling = std::max(value, core::UnixMillis{kept->ceiling});
  read.own = {kept->ceiling};
  read.are_alike = value.value == kept->ceiling;
  read.wild.count = std::min<int64>(kept->wild_count, core::WildTimes::kMost);
  std::copy_n(kept->wild, read.wild.count, read.wild.at);
  return read;
}

XLogRecPtr ceiling_page_set(const CeilingPage& page, core::UnixMillis ceiling,
                            const core::WildTimes& known) {
  const core::WildTimes kept = ceiling_page_read(page).wild;
  return ceiling_page_replace(page, ceiling, kept.count > 0 ? kept : known);
}

XLogRecPtr ceiling_page_replace(const CeilingPage& page, core::UnixMillis ceiling,
                                const core::WildTimes& wild) {
  GenericXLogState* change = GenericXLogStart(page.sequence.relation);
  sequence_page_store(page.sequence, change, ceiling.value, true);
  if (BufferIsValid(page.kept)) {
    // Recovery has no page yet where it was never logged as a whole.
    const bool is_new = PageIsNew(BufferGetPage(page.kept));
    Page second =
        GenericXLogRegisterBuffer(change, page.kept, is_new ? GENERIC_XLOG_FULL_IMAGE : 0);
    if (is_new) PageInit(second, BLCKSZ, sizeof(Kept));
    auto* kept = reinterpret_cast<Kept*>(PageGetSpecialPointer(second));
    kept->version = SNOWID_CEILING_PAGE;
    kept->wild_count = static_cast<uint32>(wild.count);
    kept->ceiling = ceiling.value;
    std::copy_n(wild.at, wild.count, kept->wild);
  }
  return GenericXLogFinish(change);
}

}  // namespace snowid::pg
