// The table of remote sequences, and the failures. Triggers (remote_source.sql) store the OIDs of a
// row's names when it is written: a role or server that takes over such a name gains no rights.
#include "pg/counters/remote_source.hpp"

#include "core/known.hpp"
#include "core/segment.hpp"
#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/session_counter.hpp"
#include "pg/errors.hpp"
#include "pg/remote.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/skey.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
}

namespace snowid::pg {

namespace {

enum Column : AttrNumber {
  kSequence = 1,
  kServer,
  kRemote,
  kIdentity,
  kOwner,
  kServerOid,
  kOwnerOid,
  kColumns = kOwnerOid,
};

constexpr Oid kTypes[kColumns] = {InvalidOid, TEXTOID, TEXTOID, TEXTOID, TEXTOID, OIDOID, OIDOID};
constexpr char kSourcesTable[] = "segment_sources";
constexpr OwnTable kSources = {.name = kSourcesTable,
                               .types = kTypes,
                               .columns = kColumns,
                               .own_type_length = sizeof(Oid),
                               .nullable = 0};

// Whether the last attempt failed. False if another source was attached since.
bool has_failed(const Counter* counter) noexcept {
  const SourceFailures& last = counter->segment->source;
  return last.retry_us.load(std::memory_order_relaxed) != 0 &&
         last.file.load(std::memory_order_relaxed) == file_of(counter->file);
}

// Locks the sequence as ALTER SEQUENCE does. Checks the owner before, because a user may not lock
// another user's sequence, and after, because it may have changed meanwhile.
void lock_own_sequence(Oid relid) {
  require_own_sequence(relid);
  LockRelationOid(relid, ShareRowExclusiveLock);
  require_own_sequence(relid);
}

// The least number for a source to allocate: the sequence's next; PG_INT64_MIN if exhausted.
int64 least_of(Oid relid) {
  const int64 increment = sequence_options(relid).increment;
  Relation relation = relation_open(relid, AccessShareLock);
  const SequenceValue value = sequence_value(relation);
  relation_close(relation, AccessShareLock);
  int64_t next;
  return core::next_number(value, increment, &next) ? next : PG_INT64_MIN;
}

// Gives the sequence new storage and changes nothing else: all sessions notice.
void renew_storage(Oid relid) {
  SPI_connect();
  SPI_execute(psprintf("ALTER SEQUENCE %s INCREMENT " INT64_FORMAT, qualified_name(relid),
                       sequence_options(relid).increment),
              false, 0);
  SPI_finish();
}

// nullptr removes the source. Requires: the user owns the sequence.
void set_source(Oid relid, const RemoteSource* source) {
  Oid types[] = {REGCLASSOID, TEXTOID, TEXTOID, TEXTOID};
  Datum values[] = {ObjectIdGetDatum(relid), Datum{0}, Datum{0}, Datum{0}};
  renew_storage(relid);
  own_table_execute(kSourcesTable,
                    "DELETE FROM ONLY snowid_internal.segment_sources WHERE seq = $1"
                    " OR NOT EXISTS (SELECT FROM pg_sequence WHERE seqrelid = seq)",
                    1, types, values, nullptr);
  if (source != nullptr) {
    values[1] = CStringGetTextDatum(source->server);
    values[2] = CStringGetTextDatum(source->remote);
    values[3] = CStringGetTextDatum(source->identity);
    own_table_execute(kSourcesTable,
                      "INSERT INTO snowid_internal.segment_sources"
                      " (seq, server, remote_seq, source_identity) VALUES ($1, $2, $3, $4)",
                      lengthof(values), types, values, nullptr);
  }
  const RemoteSource stored = source_find(relid);
  if ((stored.server == nullptr) != (source == nullptr)) report_not_stored(kSourcesTable);
}

}  // namespace

RemoteSource source_find(Oid relid) {
  RemoteSource source{};
  ScanKeyData key;
  // A sequence must not lose its source with the table: its own numbers may be in use elsewhere.
  Relation table = own_table_open(kSources, AccessShareLock);
  // Few rows, therefore no index; a snapshot of its own, because the caller's may predate the row.
  ScanKeyInit(&key, kSequence, BTEqualStrategyNumber, F_OIDEQ, ObjectIdGetDatum(relid));
  SysScanDesc scan = systable_beginscan(table, InvalidOid, false, nullptr, 1, &key);
  HeapTuple row = systable_getnext(scan);
  if (HeapTupleIsValid(row)) {
    require_no_null(table, kSources, row);
    const auto column = [table, row](Column number) {
      bool is_null;
      return heap_getattr(row, number, RelationGetDescr(table), &is_null);
    };
    source = {relid,
              DatumGetObjectId(column(kOwnerOid)),
              DatumGetObjectId(column(kServerOid)),
              TextDatumGetCString(column(kServer)),
              TextDatumGetCString(column(kRemote)),
              TextDatumGetCString(column(kIdentity))};
    ForeignServer* server = GetForeignServerExtended(source.server_oid, FSV_MISSING_OK);
    if (server != nullptr && (strcmp(server->servername, source.server) == 0 ||
                              !OidIsValid(get_foreign_server_oid(source.server, true))))
      source.server = server->servername;
    else
      source.server_oid = InvalidOid;
  }
  systable_endscan(scan);
  table_close(table, AccessShareLock);
  return source;
}

void note_failure(const Counter* counter, const RemoteSource& source, int sqlstate, const char* why,
                  core::UnixMicros began, Urgency urgency) {
  SourceFailures* last = &counter->segment->source;
  const core::UnixMicros now = unix_now();
  const int64 took_us = std::max<int64>(now.value - began.value, 0);
  const uint32_t last_sqlstate = last->sqlstate.exchange(static_cast<uint32_t>(sqlstate));
  if (urgency == Urgency::kEarly && last_sqlstate != static_cast<uint32_t>(sqlstate))
    last->logged_us.store(0);
  last->failures.fetch_add(1);
  last->failed_us.store(now.value);
  last->is_down.store(sqlstate == ERRCODE_CONNECTION_FAILURE);
  last->file.store(file_of(counter->file));
  last->retry_us.store(now.value +
                       std::clamp<int64>(2 * took_us, USECS_PER_SEC, 60 * USECS_PER_SEC));
  if (urgency != Urgency::kEarly || !may_log(&last->logged_us)) return;
  // For the log only, because a client must not learn the server's address.
  ereport(LOG_SERVER_ONLY, errcode(sqlstate),
          errmsg("could not allocate numbers from server \"%s\" for sequence \"%s\"", source.server,
                 get_rel_name(source.relid)),
          errdetail("It took " INT64_FORMAT " ms; failures so far: " UINT64_FORMAT
                    ", numbers left on this server: " UINT64_FORMAT ". %s",
                    took_us / 1000, last->failures.load(), core::left_in(counter->segment->numbers),
                    why));
}

bool is_retry_too_early(const Counter* counter) noexcept {
  if (!has_failed(counter)) return false;
  const SourceFailures& last = counter->segment->source;
  // A clock that moved backward must not extend the delay.
  const core::UnixMicros now = unix_now();
  return now.value < last.retry_us.load(std::memory_order_relaxed) &&
         now.value >= last.failed_us.load(std::memory_order_relaxed);
}

bool is_unreachable_source(const Counter* counter) noexcept {
  return has_failed(counter) && counter->segment->source.is_down.load();
}

// Input of snowid_internal.sequence_name: regclass's, but accepts unknown names from logical
// replication, whose row the trigger skips; an error would stop the replication of all tables.
SNOWID_FUNCTION(snowid_sequence_in) {
  if (IsLogicalWorker()) PG_RETURN_OID(InvalidOid);
  return regclassin(fcinfo);
}

SNOWID_FUNCTION(snowid_sequence_recv) {
  const Datum value = regclassrecv(fcinfo);
  return IsLogicalWorker() ? ObjectIdGetDatum(InvalidOid) : value;
}

SNOWID_FUNCTION(snowid_segment_attach) {
  require_nextval("snowid_segment_attach()");
  const Oid relid = PG_GETARG_OID(0);
  const char* server = NameStr(*PG_GETARG_NAME(1));
  require_own_sequence(relid);
  const Oid server_oid = get_foreign_server_oid(server, false);
  const AclResult usage = check_usage_of_server(server_oid);
  if (usage != ACLCHECK_OK) aclcheck_error(usage, OBJECT_FOREIGN_SERVER, server);
  require_connect_timeout(server_oid);
  RemoteSource source{
      relid,  relation_owner(relid), server_oid, server, text_to_cstring(PG_GETARG_TEXT_PP(2)),
      nullptr};
  // Asked before the sequence is locked, to let other sessions continue. Numbers allocated
  // meanwhile are above the least seen by this session, and the source is above it.
  source.identity = source_identify(source, least_of(relid));
  lock_own_sequence(relid);
  set_source(relid, &source);
  PG_RETURN_VOID();
}

SNOWID_FUNCTION(snowid_segment_detach) {
  require_nextval("snowid_segment_detach()");
  const Oid relid = PG_GETARG_OID(0);
  lock_own_sequence(relid);
  set_source(relid, nullptr);
  PG_RETURN_VOID();
}

}  // namespace snowid::pg
