// A session's table of counters, and changes of a sequence's page.
#include "pg/counters/counter_state.hpp"

#include "pg/values.hpp"

extern "C" {
#include "access/relation.h"
#include "storage/condition_variable.h"
#include "storage/lmgr.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
}

namespace snowid::pg {

namespace {

HTAB* counters = nullptr;

// The most recent counters, by the low bits of their OIDs.
constexpr uint32 kRecent = 16;
Counter* recent[kRecent];

// The counters whose pages this transaction has pinned: few, because a server may have few buffers.
constexpr uint32 kMostPinned = 8;
Counter* pinned[kMostPinned];
uint32 pinned_count = 0;

// Calls `step` with the transaction's resource owner: locks and pins outlive subtransactions.
template <typename Step>
void for_transaction(const Step& step) {
  ResourceOwner caller = CurrentResourceOwner;
  CurrentResourceOwner = TopTransactionResourceOwner;
  PG_TRY();
  { step(); }
  PG_FINALLY();
  { CurrentResourceOwner = caller; }
  PG_END_TRY();
}

// Forgets the pins, released by a failed transaction.
void forget_pins() noexcept {
  while (pinned_count > 0) pinned[--pinned_count]->is_pinned = false;
}

void unpin_pages() {
  if (pinned_count == 0) return;
  for_transaction([] {
    for (uint32 i = 0; i < pinned_count; i++) ReleaseBuffer(pinned[i]->buffer);
  });
  forget_pins();
}

// Whether a counter with an entry may need another look.
bool may_be_stale = false;

// Counts this session out of the shared entries of its counters: of all, or of those invalidated,
// whose entries a sweep could otherwise not remove if the sequences are dropped. Requires: no
// number is being issued. Runs at the end of transactions and must not fail: allocates nothing.
void let_go_of_entries(bool all) {
  if (counters == nullptr) return;
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, counters);
  while (auto* counter = static_cast<Counter*>(hash_seq_search(&scan))) {
    if (!all && counter->is_looked_at) continue;
    let_go(counter->segment);
    let_go(counter->section);
  }
}

Counter* find_or_make(Oid relid) {
  static_assert(InvalidLocalTransactionId == 0 && InvalidBuffer == 0);
  if (counters == nullptr) counters = make_hash<Oid, Counter>("snowid counters", TopMemoryContext);
  bool found;
  auto* counter = static_cast<Counter*>(hash_search(counters, &relid, HASH_ENTER, &found));
  if (!found) {
    *counter = {};
    counter->relid = relid;
  }
  return counter;
}

void look_at_sequence(Counter* counter) {
  require_sequence(counter->relid);
  Relation relation = relation_open(counter->relid, NoLock);
  if (relation->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("sequence \"%s\" is temporary", RelationGetRelationName(relation)),
            errdetail("Only this session can use it."), errhint("Use nextval()."));
  if (counter->is_pinned) unpin_pages();
  counter->file = locator_of(relation);
  counter->buffer = InvalidBuffer;
  relation_close(relation, NoLock);
  counter->is_looked_at = true;
}

void assert_has_right([[maybe_unused]] const Counter* counter,
                      [[maybe_unused]] const core::Known* known) noexcept {
  Assert((counter->segment != nullptr && known == &counter->segment->known &&
          is_mine(counter->segment->refill)) ||
         (counter->section != nullptr && known == &counter->section->known &&
          is_mine(counter->section->refill)));
}

// Until the end of the transaction, or until too many are pinned.
void pin_page(Counter* counter) {
  if (pinned_count == kMostPinned) unpin_pages();
  bool is_recent = false;
  if (counter->buffer != InvalidBuffer) {
    for_transaction([counter, &is_recent] {
      is_recent = ReadRecentBuffer(counter->file, MAIN_FORKNUM, 0, counter->buffer);
    });
  }
  if (!is_recent) {
    Relation relation = relation_open(counter->relid, NoLock);
    for_transaction([counter, relation] { counter->buffer = ReadBuffer(relation, 0); });
    relation_close(relation, NoLock);
  }
  counter->is_pinned = true;
  pinned[pinned_count++] = counter;
}

}  // namespace

// Before a commit, or the transaction's resource owner would warn of a leak.
void at_eoxact_counters(XactEvent event) {
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE ||
      event == XACT_EVENT_PARALLEL_PRE_COMMIT)
    return unpin_pages();
  end_refill();
  forget_pins();
  if (may_be_stale) let_go_of_entries(false);
  may_be_stale = false;
}

// A failed subtransaction may have refilled, or created storage, whose drop requires no pins.
void at_eosubxact_counters(SubXactEvent event) {
  if (event != SUBXACT_EVENT_ABORT_SUB) return;
  end_refill(GetCurrentTransactionNestLevel());
  unpin_pages();
}

// A sequence's storage, among others, may have changed. relid: InvalidOid for all relations.
void on_relcache_counters(Oid relid) {
  if (counters == nullptr) return;
  may_be_stale = true;
  if (OidIsValid(relid)) {
    auto* counter = static_cast<Counter*>(hash_search(counters, &relid, HASH_FIND, nullptr));
    if (counter != nullptr) counter->is_looked_at = false;
    return;
  }
  HASH_SEQ_STATUS scan;
  hash_seq_init(&scan, counters);
  while (auto* counter = static_cast<Counter*>(hash_seq_search(&scan)))
    counter->is_looked_at = false;
}

// A transaction may still be open, and a sweep can delete entries once this session is counted out
// of them. Therefore it first stops waiting for a right to refill, and releases its own.
void at_exit_counters() {
  ConditionVariableCancelSleep();
  end_refill();
  let_go_of_entries(true);
}

Counter* counter_open(Oid relid, AclMode rights) {
  Counter*& last = recent[relid % kRecent];
  if (unlikely(last == nullptr || last->relid != relid)) last = find_or_make(relid);
  Counter* counter = last;
  if (unlikely(counter->locked_in != current_lxid())) {
    for_transaction([relid] { LockRelationOid(relid, RowExclusiveLock); });
    counter->locked_in = current_lxid();
  }
  if (unlikely(!counter->is_looked_at)) look_at_sequence(counter);
  if (pg_class_aclcheck(relid, GetUserId(), rights) != ACLCHECK_OK)
    aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_SEQUENCE, get_rel_name(relid));
  return counter;
}

bool counter_is_as_known(Counter* counter, const core::Known& known) {
  Assert(counter->locked_in == current_lxid());
  if (known.file.load(std::memory_order_acquire) != file_of(counter->file)) return false;
  if (unlikely(!counter->is_pinned)) pin_page(counter);
  const SequenceValue value = sequence_page_value(counter->buffer);
  const uint32_t file = file_of(counter->file);
  return core::is_as_known(known, file, value) || core::is_as_before(known, file, value);
}

void counter_report_exhausted(Oid relid, int64 max) {
  ereport(ERROR, errcode(ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED),
          errmsg("reached maximum value of sequence \"%s\" (" INT64_FORMAT ")", get_rel_name(relid),
                 max));
}

SequencePage counter_page_lock(const Counter* counter) {
  Assert(counter->locked_in == current_lxid());
  assert_holds_none();
  return sequence_page_lock(relation_open(counter->relid, NoLock));
}

void counter_page_unlock(const SequencePage& page) {
  sequence_page_unlock(page);
  relation_close(page.relation, NoLock);
}

XLogRecPtr counter_change(const SequencePage& page, const Counter* counter, core::Known* known,
                          int64 last, bool is_called) {
  assert_has_right(counter, known);
  const SequenceValue before = sequence_page_value(page.buffer);
  core::announce(*known, file_of(counter->file), before, last, is_called);
  GenericXLogState* change = GenericXLogStart(page.relation);
  sequence_page_store(page, change, last, is_called);
  const XLogRecPtr lsn = GenericXLogFinish(change);
  core::note_own_change(*known, sequence_page_value(page.buffer));
  return lsn;
}

void counter_settle(const Counter* counter, core::Known* known) {
  assert_has_right(counter, known);
  core::settle(*known, file_of(counter->file));
}

}  // namespace snowid::pg
