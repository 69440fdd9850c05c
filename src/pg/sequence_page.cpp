// Reading and changing a sequence's page. See sequence_page.hpp.
#include "pg/sequence_page.hpp"

namespace snowid::pg {

namespace {

Form_pg_sequence_data sequence_data(Page page) {
  auto* tuple =
      reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, FirstOffsetNumber)));
  return reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
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

void sequence_make_durable(XLogRecPtr lsn) {
  if (XLogRecPtrIsInvalid(lsn)) return;
  XLogFlush(lsn);
  hold_interrupts();
  SyncRepWaitForLSN(lsn, false);
  resume_interrupts();
}

}  // namespace snowid::pg
