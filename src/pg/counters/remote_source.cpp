// In this order: failures, attaching, and the statement for the source; reading the table. Triggers
// (remote_source.sql) store the OIDs of a row's names when it is written: a role or server of the
// same name gains no rights later. The caller of source_allocate() has the right to refill: one
// session of a server allocates for a sequence at a time.
#include "pg/counters/remote_source.hpp"

#include "core/known.hpp"
#include "core/segment.hpp"
#include "pg/catalog_table.hpp"
#include "pg/clock.hpp"
#include "pg/compat.hpp"
#include "pg/counters/counter_state.hpp"
#include "pg/errors.hpp"
#include "pg/remote.hpp"

extern "C" {
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/skey.h"
#include "access/table.h"
#include "catalog/pg_type.h"
#include "executor/spi.h"
#include "foreign/foreign.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "utils/fmgroids.h"
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
constexpr OwnTable kSources = {.name = "segment_sources",
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

// nullptr removes the source. Requires: the user owns the sequence. Raises: 55000 if not stored;
// 40001 if the server is newer than the transaction's snapshot.
void set_source(Oid relid, const RemoteSource* source) {
  Oid types[] = {REGCLASSOID, TEXTOID, TEXTOID, TEXTOID};
  Datum values[] = {ObjectIdGetDatum(relid), Datum{0}, Datum{0}, Datum{0}};
  // Gives the sequence new storage and changes nothing else: all sessions notice.
  SPI_connect();
  SPI_execute(psprintf("ALTER SEQUENCE %s INCREMENT " INT64_FORMAT, qualified_name(relid),
                       sequence_options(relid).increment),
              false, 0);
  SPI_finish();
  own_table_execute(kSources.name,
                    "DELETE FROM ONLY snowid_internal.segment_sources WHERE seq = $1"
                    " OR NOT EXISTS (SELECT FROM pg_sequence WHERE seqrelid = seq)",
                    1, types, values, nullptr);
  if (source != nullptr) {
    values[1] = CStringGetTextDatum(source->server);
    values[2] = CStringGetTextDatum(source->remote);
    values[3] = CStringGetTextDatum(source->identity);
    own_table_execute(kSources.name,
                      "INSERT INTO snowid_internal.segment_sources"
                      " (seq, server, remote_seq, source_identity) VALUES ($1, $2, $3, $4)",
                      lengthof(values), types, values, nullptr);
  }
  const RemoteSource stored = source_find(relid);
  if ((stored.server == nullptr) != (source == nullptr)) report_not_stored(kSources.name);
  // The trigger looked it up by the transaction's snapshot.
  if (source != nullptr && stored.server_oid != source->server_oid)
    ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
            errmsg("could not serialize access due to concurrent change of server \"%s\"",
                   source->server),
            errhint("The transaction might succeed if retried."));
}

// Of the statement made by snowid_internal.source_statement() (remote_source.sql).
enum AnswerColumn : int {
  kIdentityThere = 1,
  kBehind,  // where the source's next block begins; null unless below the least number
  kFirst,   // null if nothing was allocated
  kBlocks,
  kIncrement,
  kMax,
  kCycles,
  kAnswerColumns = kCycles
};

// Two numbers of at most 20 digits, two of at most 10, and separators.
constexpr size_t kLongestIdentity = 63;

[[noreturn]] void report_other(const RemoteSource& source, const char* identity) {
  const char* sequence = get_rel_name(source.relid);
  ereport(
      ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
      errmsg(
          "sequence \"%s\" on server \"%s\" is not the one to which sequence \"%s\" was attached",
          source.remote, source.server, sequence),
      errdetail("That server was restored, promoted, or upgraded, or the sequence was created "
                "again. It may have lost allocated numbers, and allocate them again."),
      errdetail_log("The source was \"%s\" when it was attached, and is \"%s\".", source.identity,
                    identity),
      errhint("Find the greatest \"last_allocated\" in snowid.segment_sources on all servers "
              "using the source, and set the source above it by setval(). Then use "
              "snowid_segment_attach() again on each of these servers."));
}

// Raises: 55000. next: where the source's next block begins.
[[noreturn]] void report_behind(const RemoteSource& source, int64 next, int64 least) {
  ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
          errmsg("sequence \"%s\" on server \"%s\" is behind sequence \"%s\"", source.remote,
                 source.server, get_rel_name(source.relid)),
          errdetail("Its next block begins at " INT64_FORMAT ", and numbers up to " INT64_FORMAT
                    " count as allocated to sequence \"%s\".",
                    next, least - 1, get_rel_name(source.relid)),
          errhint("On server \"%s\" use setval() to set the sequence to " INT64_FORMAT
                  ", or to the greatest \"last_allocated\" in snowid.segment_sources on all "
                  "servers using it, if greater.",
                  source.server, least - 1));
}

// Reads the answer. identity: of kLongestIdentity + 1 bytes. Raises: 42809, 55000, 08P01.
void read_answer(const RemoteSource& source, int64 least, uint64 blocks, char* identity,
                 core::GivenBlocks* allocated) {
  const RemoteAnswer answer{source.server};
  if (SPI_processed == 0)
    ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
            errmsg("\"%s\" is not a sequence on server \"%s\"", source.remote, source.server));
  const char* text = answer.text(kIdentityThere);
  if (*text == '\0' || strlen(text) > kLongestIdentity)
    report_invalid_answer(source.server, "The identity is too short or too long.");
  strcpy(identity, text);
  if (strcmp(answer.text(kCycles), "t") == 0 || answer.number(kIncrement) < 0)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("sequence \"%s\" on server \"%s\" cycles or counts down", source.remote,
                   source.server));
  if (source.identity != nullptr && strcmp(identity, source.identity) != 0)
    report_other(source, identity);
  if (SPI_getvalue(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, kBehind) != nullptr)
    report_behind(source, answer.number(kBehind, PG_INT64_MIN, least - 1), least);
  if (source.identity == nullptr) return;
  *allocated = {answer.number(kFirst), answer.number(kBlocks, 1, static_cast<int64>(blocks)),
                answer.number(kIncrement, 1), answer.number(kMax)};
  if (!core::is_possible(*allocated))
    report_invalid_answer(source.server, "The blocks are above the maximum value of the sequence.");
  // setval was used meanwhile, or the next number could not be read.
  if (allocated->first < least) report_behind(source, allocated->first, least);
}

// Runs the statement. Returns nullptr, or the error. Raises: a cancel.
ErrorData* ask_source(const RemoteSource& source, int64 least, uint64 blocks, char* identity,
                      core::GivenBlocks* allocated) {
  constexpr Oid kTypes[] = {INT8OID, TEXTOID, TEXTOID, INT8OID};
  const Datum statement =
      OidFunctionCall4(own_function("source_statement", lengthof(kTypes), kTypes),
                       Int64GetDatum(least), CStringGetTextDatum(source.remote),
                       CStringGetTextDatum(source.identity != nullptr ? source.identity : ""),
                       Int64GetDatum(static_cast<int64>(blocks)));
  return remote_run(source.server_oid, source.owner, TextDatumGetCString(statement), kAnswerColumns,
                    [&] { read_answer(source, least, blocks, identity, allocated); });
}

// Raises: 42501 if the owner has changed, who has not agreed to allocations with its rights; 55000
// if another server has the name; 42704 if none has.
[[noreturn]] void report_changed(const RemoteSource& source) {
  const char* sequence = get_rel_name(source.relid);
  constexpr char kHint[] = "The owner of the sequence can use snowid_segment_attach() again.";
  if (OidIsValid(source.server_oid))
    ereport(ERROR, errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
            errmsg("sequence \"%s\" has another owner than when it was attached to server \"%s\"",
                   sequence, source.server),
            errdetail("Numbers are allocated with the rights of the owner who attached it."),
            errhint("%s", kHint));
  if (OidIsValid(get_foreign_server_oid(source.server, true)))
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("server \"%s\" is not the one to which sequence \"%s\" was attached",
                   source.server, sequence),
            errhint("%s", kHint));
  ereport(ERROR, errcode(ERRCODE_UNDEFINED_OBJECT),
          errmsg("server \"%s\" does not exist", source.server),
          errdetail("Sequence \"%s\" was attached to it.", sequence), errhint("%s", kHint));
}

// The identity of a source to be attached; all other fields are set. Allocates nothing. Raises:
// 08006 if the server cannot be reached; 55000 if the source cycles, counts down, or is behind
// `least`; 42809 if it is not a sequence; 08P01 if the answer is invalid.
const char* source_identify(const RemoteSource& source, int64 least) {
  auto* identity = static_cast<char*>(palloc(kLongestIdentity + 1));
  ErrorData* error = ask_source(source, least, 0, identity, nullptr);
  if (error == nullptr) return identity;
  if (!is_unreachable(error)) ReThrowError(error);
  ereport(ERROR, errcode(ERRCODE_CONNECTION_FAILURE),
          errmsg("could not reach server \"%s\"", source.server), errdetail_of_remote(error),
          errhint("Try again when it can be reached."));
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

ErrorData* source_allocate(const RemoteSource& source, int64 least, uint64 blocks,
                           core::GivenBlocks* allocated) {
  if (!OidIsValid(source.server_oid) || relation_owner(source.relid) != source.owner)
    return try_in_subtransaction([&] { report_changed(source); });
  char identity[kLongestIdentity + 1];
  return ask_source(source, least, blocks, identity, allocated);
}

void source_report_down(const RemoteSource& source, const ErrorData* why) {
  ereport(ERROR, errcode(ERRCODE_CONNECTION_FAILURE),
          errmsg("could not allocate numbers from server \"%s\"", source.server),
          why != nullptr ? errdetail_of_remote(why)
                         : errdetail("It could not be reached a moment ago."),
          errhint("Numbers are issued again as soon as the server can be reached."));
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
