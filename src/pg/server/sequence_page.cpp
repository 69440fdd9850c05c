// Reading and changing a sequence's page. See sequence_page.hpp.
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

namespace {

Form_pg_sequence_data sequence_data(Page page) {
  auto* tuple =
      reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, FirstOffsetNumber)));
  return reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
}

// How long who waits for a standby sleeps before it looks again.
constexpr long kLongestNapMs = 10;

// Whether the synchronous standbys have on disk what is up to `lsn`, or there are to be none. What
// they have is noted whether or not anybody waits for it.
bool is_replicated(XLogRecPtr lsn) {
  if (max_wal_senders == 0 || !has_synchronous_standbys()) return true;
  LWLockAcquire(SyncRepLock, LW_SHARED);
  const XLogRecPtr flushed = WalSndCtl->lsn[SYNC_REP_WAIT_FLUSH];
  LWLockRelease(SyncRepLock);
  return lsn <= flushed;
}

}  // namespace

SequencePage sequence_page_lock(Relation relation) {
  Buffer buffer = ReadBuffer(relation, 0);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  return {relation, buffer};
}

void sequence_page_unlock(const SequencePage& page) { UnlockReleaseBuffer(page.buffer); }

SequenceValue SequencePageValue(const SequencePage& page) { return PeekAtSequence(page.buffer); }

XLogRecPtr sequence_page_set(const SequencePage& page, int64 last, bool is_called) {
  GenericXLogState* change = GenericXLogStart(page.relation);
  // All of the page, which but for its hole is small: nextval logs values that it has not come to
  // yet, so a replay may find another page before this record than we do.
  Form_pg_sequence_data data =
      sequence_data(GenericXLogRegisterBuffer(change, page.buffer, GENERIC_XLOG_FULL_IMAGE));
  data->last_value = last;
  data->is_called = is_called;
  // How many values nextval has logged ahead: none. Where nothing is logged it says nothing, and
  // can be the mark: setval makes it 0, and nextval lets it be no less. A count below 0 has nextval
  // log.
  data->log_cnt = RelationNeedsWAL(page.relation) ? 0 : -1;
  return GenericXLogFinish(change);
}

SequenceValue PeekAtSequence(Buffer buffer) {
  Page page = BufferGetPage(buffer);
  const volatile FormData_pg_sequence_data* data = sequence_data(page);
  const volatile PageXLogRecPtr* lsn = &reinterpret_cast<PageHeader>(page)->pd_lsn;
  return {data->last_value, data->is_called, uint64{lsn->xlogid} << 32 | lsn->xrecoff,
          data->log_cnt};
}

bool sequence_is_durable(XLogRecPtr lsn) {
  return XLogRecPtrIsInvalid(lsn) || (!XLogNeedsFlush(lsn) && is_replicated(lsn));
}

void sequence_make_durable(XLogRecPtr lsn) {
  if (XLogRecPtrIsInvalid(lsn)) return;
  XLogFlush(lsn);
  // Not SyncRepWaitForLSN(): that goes by what this session has set for itself, and goes on when it
  // is cancelled. It would wake the session, which looks by itself instead.
  for (long nap_ms = 1; !is_replicated(lsn); nap_ms = std::min(2 * nap_ms, kLongestNapMs)) {
    WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH, nap_ms,
              WAIT_EVENT_SYNC_REP);
    ResetLatch(MyLatch);
    CHECK_FOR_INTERRUPTS();
  }
}

}  // namespace snowid::pg
