// Finding earlier storage by earlier versions of rows. See earlier_storage.hpp.
#include "pg/ceiling/earlier_storage.hpp"

#include "pg/ceiling/ceiling_page.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

// Whether a version of a row was replaced or deleted by this transaction, and so counts again where
// that is rolled back. (What a subtransaction has done that was rolled back is not the
// transaction's any more.)
bool is_replaced_here(HeapTuple row) {
  const HeapTupleHeader header = row->t_data;
  return (header->t_infomask & HEAP_XMAX_INVALID) == 0 &&
         !HEAP_XMAX_IS_LOCKED_ONLY(header->t_infomask) &&
         TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetUpdateXid(header));
}

// Raises the ceiling in the storage that a version of the row names. log_as: see
// sequence_page_lock_of().
XLogRecPtr raise_storage(Form_pg_class form, Relation log_as, core::UnixMillis target,
                         core::WildTimes* wild) {
  const CeilingPage page = ceiling_page_lock_of(form, log_as);
  const CeilingOnPages found = ceiling_page_read(page);
  const bool is_to_be_raised = found.ceiling < target || !found.are_alike;
  const XLogRecPtr lsn = is_to_be_raised
                             ? ceiling_page_set(page, std::max(found.ceiling, target), found.wild)
                             : InvalidXLogRecPtr;
  ceiling_page_unlock(page);
  if (found.wild.count > 0) *wild = found.wild;
  return lsn;
}

// As raise_earlier_storage(), of the versions of one relation. classes: pg_class.
void raise_versions(Relation classes, Oid relid, Relation relation, FileNumber known,
                    core::UnixMillis target, RaisedStorage* raised) {
  ScanKeyData key;
  ScanKeyInit(&key, Anum_pg_class_oid, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
  SysScanDesc scan = systable_beginscan(classes, ClassOidIndexId, true, SnapshotAny, 1, &key);
  HeapTuple row;
  while ((row = systable_getnext(scan)) != nullptr) {
    auto* form = reinterpret_cast<Form_pg_class>(GETSTRUCT(row));
    if (!is_replaced_here(row) || form->relkind != RELKIND_SEQUENCE ||
        form->relpersistence != RELPERSISTENCE_PERMANENT || form->relfilenode == file_of(relation))
      continue;
    // Storage that this transaction has made need not be logged where the commit syncs it.
    const bool is_made_here =
        TransactionIdIsCurrentTransactionId(HeapTupleHeaderGetXmin(row->t_data));
    const XLogRecPtr lsn =
        raise_storage(form, is_made_here ? relation : classes, target, &raised->wild);
    raised->last = std::max(raised->last, lsn);
    if (form->relfilenode == known) raised->known = std::max(raised->known, lsn);
  }
  systable_endscan(scan);
}

}  // namespace

RaisedStorage raise_earlier_storage(Relation relation, KnownCeiling known,
                                    core::UnixMillis target) {
  const Oid relid = RelationGetRelid(relation);
  RaisedStorage raised{InvalidXLogRecPtr, InvalidXLogRecPtr, {}};
  Relation classes = table_open(RelationRelationId, AccessShareLock);
  raise_versions(classes, relid, relation, known.file, target, &raised);
  if (OidIsValid(known.relid) && known.relid != relid)
    raise_versions(classes, known.relid, relation, known.file, target, &raised);
  table_close(classes, AccessShareLock);
  return raised;
}

}  // namespace snowid::pg
