// Reading and raising both pages. See ceiling_page.hpp.
#include "pg/ids/ceiling_page.hpp"

namespace snowid::pg {

namespace {

constexpr BlockNumber kKeptBlock = 1;

// What the second page has in its special space. To a scan of the sequence the page is empty.
struct Kept {
  int64 ceiling;         // in Unix milliseconds
  core::Wild rewinding;  // all zero where nobody is about to rewind
  // Where IDs have stepped over wild times to, and it has not been raised since; else 0. No ID is
  // known to have a time as late.
  int64 stepped_to;
  core::CeilingHistory history;  // where it has been besides
};

// nullptr where the page was made and nothing has been stored in it.
const Kept* KeptOn(const CeilingPage& page) {
  if (!BufferIsValid(page.kept) || PageIsNew(BufferGetPage(page.kept))) return nullptr;
  return reinterpret_cast<const Kept*>(PageGetSpecialPointer(BufferGetPage(page.kept)));
}

// A copy of it, all zero where there is none.
Kept ToBeKept(const CeilingPage& page) {
  const Kept* kept = KeptOn(page);
  return kept == nullptr ? Kept{} : *kept;
}

// Remembers where the ceiling was, if it was not just stepped to.
void RememberCeiling(Kept* kept, core::UnixMillis ceiling) {
  CutAt(&kept->history, ceiling);
  if (ceiling.value != kept->stepped_to) AddRun(&kept->history, ceiling, ceiling);
}

// Remembers a raise.
void RememberRaise(Kept* kept, const Raise& raise) {
  if (!raise.is_step) AddRun(&kept->history, raise.from, raise.to);
  kept->stepped_to = raise.is_step ? raise.to.value : 0;
}

XLogRecPtr store(const CeilingPage& page, core::UnixMillis sequence, const Kept& kept) {
  GenericXLogState* change = GenericXLogStart(page.sequence.relation);
  sequence_page_store(page.sequence, change, sequence.value, true);
  if (BufferIsValid(page.kept)) {
    // Recovery has no page yet where it was never logged as a whole.
    const bool is_new = PageIsNew(BufferGetPage(page.kept));
    Page second =
        GenericXLogRegisterBuffer(change, page.kept, is_new ? GENERIC_XLOG_FULL_IMAGE : 0);
    if (is_new) PageInit(second, BLCKSZ, sizeof(Kept));
    *reinterpret_cast<Kept*>(PageGetSpecialPointer(second)) = kept;
  }
  return GenericXLogFinish(change);
}

bool IsMarked(const Kept* kept) { return kept != nullptr && kept->rewinding.until.value > 0; }

// What the second page says, which no dump has changed.
core::UnixMillis KeptCeiling(const Kept& kept, const core::WildTimes& times) {
  const core::Wild* wild = WildAt(times, MicrosOf(core::UnixMillis{kept.ceiling}));
  if (wild == nullptr) return {kept.ceiling};
  const core::Wild& mark = kept.rewinding;
  const bool is_rewound = IsMarked(&kept) && wild->Holds(mark.from) && wild->Holds(mark.until);
  return RoundUp(is_rewound ? mark.rewound_to : core::UnixMicros{wild->until.value + 1});
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

core::UnixMillis CeilingOn(const CeilingPage& page, const core::WildTimes& wild) {
  const Kept* kept = KeptOn(page);
  const core::UnixMillis known = kept == nullptr ? core::UnixMillis{0} : KeptCeiling(*kept, wild);
  core::UnixMillis value{SequencePageValue(page.sequence).last};
  // That of a dump from before the times were known to be wild.
  const core::Wild* around = WildAt(wild, MicrosOf(value));
  if (around != nullptr && MicrosOf(known) < around->from) value = RoundUp(around->rewound_to);
  return std::max(known, value);
}

bool AreAlike(const CeilingPage& page) {
  const Kept* kept = KeptOn(page);
  return kept == nullptr ||
         (kept->ceiling == SequencePageValue(page.sequence).last && !IsMarked(kept));
}

XLogRecPtr ceiling_page_set(const CeilingPage& page, core::UnixMillis before, const Raise& raise) {
  Kept kept = ToBeKept(page);
  RememberCeiling(&kept, before);
  if (raise.to > before) RememberRaise(&kept, raise);
  kept.ceiling = raise.to.value;
  kept.rewinding = {};
  return store(page, raise.to, kept);
}

void ceiling_page_mark(const CeilingPage& page, const core::Wild& wild) {
  Kept kept = ToBeKept(page);
  kept.ceiling = CeilingOn(page).value;
  kept.rewinding = wild;
  store(page, {kept.ceiling}, kept);
}

UsedBefore LastUsedBefore(const CeilingPage& page, core::UnixMillis moment) {
  Kept kept = ToBeKept(page);
  // What a dump has set, and nobody has raised since.
  const core::UnixMillis sequence{SequencePageValue(page.sequence).last};
  if (sequence < moment && sequence.value > kept.ceiling) AddRun(&kept.history, sequence, sequence);
  const core::CeilingRun* around = RunAround(kept.history, moment);
  return {MicrosOf(LastBefore(kept.history, moment)),
          around == nullptr ? core::UnixMicros{0} : MicrosOf(around->from)};
}

core::UnixMillis ceiling_of(Relation relation) {
  const CeilingPage page = ceiling_page_lock(relation);
  const core::UnixMillis value = CeilingOn(page);
  ceiling_page_unlock(page);
  return value;
}

}  // namespace snowid::pg
