#include "pg/sequence_page.hpp"

#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/debug.hpp"
#include "pg/errors.hpp"

extern "C" {
#include "access/htup_details.h"
#include "access/xlog.h"
#include "catalog/pg_sequence.h"
#include "commands/sequence.h"
#include "replication/walsender.h"
#include "storage/lmgr.h"
}

namespace snowid::pg {

namespace {

constexpr BlockNumber kSecondBlock = 1;

Form_pg_sequence_data sequence_data(Page page) noexcept {
  auto* tuple =
      reinterpret_cast<HeapTupleHeader>(PageGetItem(page, PageGetItemId(page, FirstOffsetNumber)));
  return reinterpret_cast<Form_pg_sequence_data>(reinterpret_cast<char*>(tuple) + tuple->t_hoff);
}

// WAL senders track this even if no session waits.
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

SequencePage sequence_page_lock_of(Form_pg_class form) {
  constexpr bool kIsPermanent = true;
  const Oid tablespace =
      OidIsValid(form->reltablespace) ? form->reltablespace : MyDatabaseTableSpace;
  const FileLocator storage{tablespace, MyDatabaseId, form->relfilenode};
  Buffer buffer =
      ReadBufferWithoutRelcache(storage, MAIN_FORKNUM, 0, RBM_NORMAL, nullptr, kIsPermanent);
  LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
  return {nullptr, buffer};
}

void sequence_page_unlock(const SequencePage& page) { UnlockReleaseBuffer(page.buffer); }

SequenceValue sequence_value(Relation relation) {
  const SequencePage page = sequence_page_lock(relation);
  const SequenceValue value = sequence_page_value(page.buffer);
  sequence_page_unlock(page);
  return value;
}

void sequence_page_store(const SequencePage& page, GenericXLogState* change, int64 last,
                         bool is_called) {
  assert_holds_some();
  // A full image, small without the page's hole. A delta would be wrong: nextval logs values ahead,
  // so recovery may find a page that differs from this one.
  Form_pg_sequence_data data =
      sequence_data(GenericXLogRegisterBuffer(change, page.buffer, GENERIC_XLOG_FULL_IMAGE));
  data->last_value = last;
  data->is_called = is_called;
  // No values are logged ahead. In an unlogged sequence the count has no meaning, so -1 can be the
  // mark: setval stores 0, and nextval, which treats a negative count as none, leaves 0 or more.
  data->log_cnt = RelationNeedsWAL(page.relation) ? 0 : -1;
}

void second_page_extend(Relation relation) {
  if (RelationGetNumberOfBlocks(relation) > kSecondBlock) return;
  LockRelationForExtension(relation, ExclusiveLock);
  if (RelationGetNumberOfBlocks(relation) <= kSecondBlock)
    UnlockReleaseBuffer(
        ReadBufferExtended(relation, MAIN_FORKNUM, P_NEW, RBM_ZERO_AND_LOCK, nullptr));
  UnlockRelationForExtension(relation, ExclusiveLock);
}

Buffer second_page_lock(Relation relation, BufferLockMode mode) {
  if (RelationGetNumberOfBlocks(relation) <= kSecondBlock) return InvalidBuffer;
  Buffer buffer = ReadBuffer(relation, kSecondBlock);
  LockBuffer(buffer, mode);
  return buffer;
}

void second_page_unlock(Buffer buffer) {
  if (BufferIsValid(buffer)) UnlockReleaseBuffer(buffer);
}

const void* second_page_read(Relation relation, Buffer buffer, uint32 version) {
  // A new page was extended, but never stored.
  if (!BufferIsValid(buffer) || PageIsNew(BufferGetPage(buffer))) return nullptr;
  const auto* stored = reinterpret_cast<uint32*>(PageGetSpecialPointer(BufferGetPage(buffer)));
  if (*stored != version)
    ereport(
        ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
        errmsg("sequence \"%s.%s\" has version %u of its form, and this library knows version %u",
               kInternalSchemaName, RelationGetRelationName(relation), *stored, version),
        errhint("Install the version of extension \"%s\" with which it was written, or a later "
                "one.",
                kExtensionName));
  return stored;
}

void* second_page_change(GenericXLogState* change, Buffer buffer, Size size) {
  // Recovery has no such page unless it was logged as a whole.
  const bool is_new = PageIsNew(BufferGetPage(buffer));
  Page page = GenericXLogRegisterBuffer(change, buffer, is_new ? GENERIC_XLOG_FULL_IMAGE : 0);
  if (is_new) PageInit(page, BLCKSZ, size);
  return PageGetSpecialPointer(page);
}

SequenceValue sequence_page_value(Buffer buffer) noexcept {
  Page page = BufferGetPage(buffer);
  const volatile FormData_pg_sequence_data* data = sequence_data(page);
  const XLogRecPtr lsn = lsn_of(reinterpret_cast<PageHeader>(page));
  return {data->last_value, data->is_called, lsn, data->log_cnt};
}

bool sequence_is_durable(XLogRecPtr lsn) {
  return XLogRecPtrIsInvalid(lsn) || (!XLogNeedsFlush(lsn) && is_replicated(lsn));
}

void sequence_make_durable(XLogRecPtr lsn) {
  assert_holds_none();
  if (XLogRecPtrIsInvalid(lsn)) return;
  XLogFlush(lsn);
  // Not SyncRepWaitForLSN(), which follows the session's synchronous_commit and only warns when
  // canceled. It polls, because no process wakes this session.
  for (long nap_ms = 1; !is_replicated(lsn); nap_ms = next_nap(nap_ms))
    nap(nap_ms, WAIT_EVENT_SYNC_REP);
}

void require_sequence(Oid relid) {
  const char* name = get_rel_name(relid);
  if (name == nullptr) report_no_relation(relid);
  if (get_rel_relkind(relid) != RELKIND_SEQUENCE)
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a sequence", name));
  if (is_own_relation(relid))
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
            errmsg("cannot issue numbers of sequence \"%s\"", name),
            errdetail("Extension \"%s\" stores its own state in it.", kExtensionName),
            errhint("Use CREATE SEQUENCE to create another one."));
}

void require_own_sequence(Oid relid) {
  require_sequence(relid);
  if (!owns_relation(relid))
    aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_SEQUENCE, get_rel_name(relid));
}

SequenceOptions sequence_options(Oid relid) {
  HeapTuple tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(relid));
  if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for sequence %u", relid);
  const auto* form = reinterpret_cast<Form_pg_sequence>(GETSTRUCT(tuple));
  const SequenceOptions options{form->seqincrement, form->seqmax};
  const bool cycles = form->seqcycle;
  ReleaseSysCache(tuple);
  if (cycles)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s\" cycles", get_rel_name(relid)),
            errdetail("Its numbers would repeat."), errhint("Use ALTER SEQUENCE ... NO CYCLE."));
  if (options.increment < 1)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s\" counts down", get_rel_name(relid)),
            errdetail("Its increment is " INT64_FORMAT ".", options.increment),
            errhint("Use ALTER SEQUENCE ... INCREMENT with a number above 0."));
  return options;
}

}  // namespace snowid::pg
