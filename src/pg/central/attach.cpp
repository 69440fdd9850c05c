// The SQL functions that give a sequence a central source, and remove it. They change rows of a
// table, and give the sequence new storage, so that all sessions notice. Both are undone if the
// transaction rolls back.
#include "pg/base/errors.hpp"
#include "pg/central/allocate.hpp"
#include "pg/central/sources.hpp"
#include "pg/compat.hpp"
#include "pg/server/extension.hpp"
#include "pg/server/own_table.hpp"
#include "pg/server/remote.hpp"
#include "pg/server/sequence.hpp"
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

namespace {

// Locks the sequence as ALTER SEQUENCE does, so that nobody draws from it. Checks the owner before,
// since a user may not lock another's sequence, and after, since the owner may have changed
// meanwhile.
void lock_own_sequence(Oid relid) {
  require_own_sequence(relid);
  LockRelationOid(relid, ShareRowExclusiveLock);
  require_own_sequence(relid);
}

// The least number that a source may allocate to the sequence: the next one of its own. The lowest
// bigint if it has none.
int64 least_of(Oid relid) {
  const int64 increment = sequence_options(relid).increment;
  const SequencePage page = sequence_page_lock(relation_open(relid, AccessShareLock));
  const SequenceValue value = SequencePageValue(page);
  sequence_page_unlock(page);
  relation_close(page.relation, AccessShareLock);
  int64 next = value.last;
  if (value.is_called && pg_add_s64_overflow(value.last, increment, &next)) return PG_INT64_MIN;
  return next;
}

// Gives the sequence another file, and changes nothing else, so that all sessions notice.
void renew_storage(Oid relid) {
  SPI_connect();
  SPI_execute(psprintf("ALTER SEQUENCE %s INCREMENT " INT64_FORMAT, qualified_name(relid),
                       sequence_options(relid).increment),
              false, 0);
  SPI_finish();
}

// Sets the sequence's source, or removes it where there is none. The user owns the sequence.
void set_source(Oid relid, const CentralSource* source) {
  Oid types[] = {REGCLASSOID, TEXTOID, TEXTOID, TEXTOID};
  Datum values[] = {ObjectIdGetDatum(relid), Datum{0}, Datum{0}, Datum{0}};
  renew_storage(relid);
  // Rows of sequences that were dropped go too.
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
  CentralSource stored;
  central_find(relid, &stored);
  if ((stored.server == nullptr) != (source == nullptr)) report_not_stored(kSourcesTable);
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_segment_attach);
SNOWID_FUNCTION(snowid_segment_detach);

// snowid_segment_attach(seq regclass, server name, remote_seq text) → void
Datum snowid_segment_attach(PG_FUNCTION_ARGS) {
  require_nextval("snowid_segment_attach()");
  const Oid relid = PG_GETARG_OID(0);
  const char* server = NameStr(*PG_GETARG_NAME(1));
  require_own_sequence(relid);
  const Oid server_oid = get_foreign_server_oid(server, false);
  const AclResult usage = check_usage_of_server(server_oid);
  if (usage != ACLCHECK_OK) aclcheck_error(usage, OBJECT_FOREIGN_SERVER, server);
  require_connect_timeout(server_oid);
  CentralSource source{
      relid,  relation_owner(relid), server_oid, server, text_to_cstring(PG_GETARG_TEXT_PP(2)),
      nullptr};
  // Asked before the sequence is locked: others draw meanwhile. What they take then is above what
  // this session sees first, and the source is above that.
  source.identity = central_identify(source, least_of(relid));
  lock_own_sequence(relid);
  set_source(relid, &source);
  PG_RETURN_VOID();
}

// snowid_segment_detach(seq regclass) → void
Datum snowid_segment_detach(PG_FUNCTION_ARGS) {
  require_nextval("snowid_segment_detach()");
  const Oid relid = PG_GETARG_OID(0);
  lock_own_sequence(relid);
  set_source(relid, nullptr);
  PG_RETURN_VOID();
}
}
