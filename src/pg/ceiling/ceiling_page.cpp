// Reading and raising both pages. See ceiling_page.hpp.
#include "pg/ceiling/ceiling_page.hpp"

#include "pg/catalog_table.hpp"

// The version of the second page's form: of SecondPage, and of what its fields mean.
#ifndef SNOWID_CEILING_PAGE
#define SNOWID_CEILING_PAGE 1
#endif

namespace snowid::pg {

namespace {

// What the second page has in its special space. To a scan of the sequence the page is empty.
struct SecondPage {
  uint32 version;     // SNOWID_CEILING_PAGE
  uint32 wild_count;  // of wild
  int64 ceiling;      // in Unix milliseconds
  core::Wild wild[core::WildTimes::kMost];
};

static_assert(sizeof(SecondPage) == 528);

// nullptr where the page was made and nothing has been stored in it.
const SecondPage* second_page_on(const CeilingPage& page) {
  if (!BufferIsValid(page.second) || PageIsNew(BufferGetPage(page.second))) return nullptr;
  const auto* stored =
      reinterpret_cast<const SecondPage*>(PageGetSpecialPointer(BufferGetPage(page.second)));
  if (stored->version != SNOWID_CEILING_PAGE)
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("the ceiling of IDs is stored in version %u of its form, and this "
                           "library knows version %d",
                           stored->version, SNOWID_CEILING_PAGE),
                    errhint("Install the version of %s that has written it, or a later one.",
                            kExtensionName)));
  return stored;
}

}  // namespace

CeilingPage ceiling_page_lock(Relation relation) {
  CeilingPage page{sequence_page_lock(relation), InvalidBuffer};
  if (RelationGetNumberOfBlocks(relation) <= kSecondBlock) return page;
  page.second = ReadBuffer(relation, kSecondBlock);
  LockBuffer(page.second, BUFFER_LOCK_EXCLUSIVE);
  return page;
}

void ceiling_page_unlock(const CeilingPage& page) {
  if (BufferIsValid(page.second)) UnlockReleaseBuffer(page.second);
  sequence_page_unlock(page.sequence);
}

CeilingOnPages ceiling_page_read(const CeilingPage& page) {
  const core::UnixMillis value{sequence_page_value(page.sequence).last};
  const SecondPage* stored = second_page_on(page);
  CeilingOnPages read{value, value, true, {}};
  if (stored == nullptr) return read;
  read.ceiling = std::max(value, core::UnixMillis{stored->ceiling});
  read.own = {stored->ceiling};
  read.are_alike = value.value == stored->ceiling;
  read.wild.count = std::min<int64>(stored->wild_count, core::WildTimes::kMost);
  std::copy_n(stored->wild, read.wild.count, read.wild.at);
  return read;
}

XLogRecPtr ceiling_page_set(const CeilingPage& page, core::UnixMillis ceiling,
                            const core::WildTimes& known) {
  const core::WildTimes stored = ceiling_page_read(page).wild;
  return ceiling_page_replace(page, ceiling, stored.count > 0 ? stored : known);
}

XLogRecPtr ceiling_page_replace(const CeilingPage& page, core::UnixMillis ceiling,
                                const core::WildTimes& wild) {
  GenericXLogState* change = GenericXLogStart(page.sequence.relation);
  sequence_page_store(page.sequence, change, ceiling.value, true);
  if (BufferIsValid(page.second)) {
    // Recovery has no page yet where it was never logged as a whole.
    const bool is_new = PageIsNew(BufferGetPage(page.second));
    Page second =
        GenericXLogRegisterBuffer(change, page.second, is_new ? GENERIC_XLOG_FULL_IMAGE : 0);
    if (is_new) PageInit(second, BLCKSZ, sizeof(SecondPage));
    auto* stored = reinterpret_cast<SecondPage*>(PageGetSpecialPointer(second));
    stored->version = SNOWID_CEILING_PAGE;
    stored->wild_count = static_cast<uint32>(wild.count);
    stored->ceiling = ceiling.value;
    std::copy_n(wild.at, wild.count, stored->wild);
  }
  return GenericXLogFinish(change);
}

}  // namespace snowid::pg
