#include "pg/ceiling/ceiling_storage.hpp"

#include "pg/catalog_table.hpp"
#include "pg/compat.hpp"

extern "C" {
#include "access/generic_xlog.h"
#include "access/relation.h"
#include "catalog/pg_subscription_rel.h"
#include "storage/lmgr.h"
}

// The version of SecondPage: its form, and the meaning of its fields.
#ifndef SNOWID_CEILING_PAGE
#define SNOWID_CEILING_PAGE 1
#endif

namespace snowid::pg {

Oid ceiling_relid = InvalidOid;

namespace {

// The special space of the second page.
struct SecondPage {
  uint32 version;        // SNOWID_CEILING_PAGE
  uint32 skipped_count;  // of skipped
  int64 ceiling;         // in Unix milliseconds
  core::SkippedRange skipped[core::SkippedTimes::kMost];
};

static_assert(sizeof(SecondPage) == 528);

Oid look_up_ceiling() {
  const Oid relid = extension_relation(kCeilingName);
  if (!OidIsValid(relid))
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s.%s\" of extension \"%s\" does not exist", kInternalSchemaName,
                   kCeilingName, kExtensionName),
            errhint("Create the extension with CREATE EXTENSION %s.", kExtensionName));
  return relid;
}

}  // namespace

Relation open_ceiling(Urgency urgency) {
  Relation relation = nullptr;
  while (relation == nullptr) {
    if (!OidIsValid(ceiling_relid)) ceiling_relid = look_up_ceiling();
    if (urgency == Urgency::kMust)
      LockRelationOid(ceiling_relid, RowExclusiveLock);
    else if (!ConditionalLockRelationOid(ceiling_relid, RowExclusiveLock))
      return nullptr;
    relation = try_relation_open(ceiling_relid, NoLock);
    if (relation == nullptr) {
      UnlockRelationOid(ceiling_relid, RowExclusiveLock);
      ceiling_relid = InvalidOid;
    }
  }
  require_permanent_sequence(relation, "IDs could repeat after a crash.");
  return relation;
}

bool is_set_by_subscription(Relation relation) {
  return kReplicatesSequences &&
         catalog_row(SubscriptionRelRelationId, SubscriptionRelSrrelidSrsubidIndexId,
                     Anum_pg_subscription_rel_srrelid, RelationGetRelid(relation)) != nullptr;
}

CeilingPages lock_pages(Relation relation) {
  const SequencePage first = sequence_page_lock(relation);
  return {first, second_page_lock(relation, BUFFER_LOCK_EXCLUSIVE)};
}

void unlock_pages(const CeilingPages& pages) {
  second_page_unlock(pages.second);
  sequence_page_unlock(pages.sequence);
}

StoredCeiling read_pages(const CeilingPages& pages) {
  const core::UnixMillis value{sequence_page_value(pages.sequence.buffer).last};
  StoredCeiling read{value, value, true, {}};
  const auto* stored = static_cast<const SecondPage*>(
      second_page_read(pages.sequence.relation, pages.second, SNOWID_CEILING_PAGE));
  if (stored == nullptr) return read;
  read.ceiling = std::max(value, core::UnixMillis{stored->ceiling});
  read.own = {stored->ceiling};
  read.are_alike = value.value == stored->ceiling;
  read.skipped.count = std::min<int64>(stored->skipped_count, core::SkippedTimes::kMost);
  std::copy_n(stored->skipped, read.skipped.count, read.skipped.at);
  return read;
}

XLogRecPtr store_on_pages(const CeilingPages& pages, core::UnixMillis ceiling,
                          const core::SkippedTimes& skipped) {
  GenericXLogState* change = GenericXLogStart(pages.sequence.relation);
  sequence_page_store(pages.sequence, change, ceiling.value, true);
  if (BufferIsValid(pages.second)) {
    auto* stored =
        static_cast<SecondPage*>(second_page_change(change, pages.second, sizeof(SecondPage)));
    stored->version = SNOWID_CEILING_PAGE;
    stored->skipped_count = static_cast<uint32>(skipped.count);
    stored->ceiling = ceiling.value;
    std::copy_n(skipped.at, skipped.count, stored->skipped);
  }
  return GenericXLogFinish(change);
}

StoredCeiling ceiling_read() {
  Relation relation = open_ceiling(Urgency::kMust);
  const CeilingPages pages = lock_pages(relation);
  const StoredCeiling stored = read_pages(pages);
  unlock_pages(pages);
  relation_close(relation, RowExclusiveLock);
  return stored;
}

}  // namespace snowid::pg
