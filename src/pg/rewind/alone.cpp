// Waiting until no other session is connected. See alone.hpp.
#include "pg/rewind/alone.hpp"

#include "pg/base/nap.hpp"
#include "pg/compat.hpp"

namespace snowid::pg {

namespace {

// CountOtherDBBackends() tries as long.
constexpr int kTries = 50;
constexpr long kBetweenTriesMs = 100;

// The lock that ALTER DATABASE takes, and each session while it begins.
LOCKTAG lock_tag() {
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, InvalidOid, DatabaseRelationId, MyDatabaseId, 0);
  return tag;
}

// The process IDs of others that are connected to this database, as text.
const char* others_text() {
  StringInfoData text;
  initStringInfo(&text);
  pgstat_clear_backend_activity_snapshot();
  for (int i = 1; i <= pgstat_fetch_stat_numbackends(); i++) {
    const LocalPgBackendStatus* local = local_backend(i);
    if (local == nullptr) continue;
    const PgBackendStatus& backend = local->backendStatus;
    if (backend.st_databaseid == MyDatabaseId && backend.st_procpid != MyProcPid)
      appendStringInfo(&text, "%s%d", text.len > 0 ? ", " : "", backend.st_procpid);
  }
  return text.data;
}

}  // namespace

void alone_lock() {
  const LOCKTAG tag = lock_tag();
  // Tries without queueing: sessions that begin would wait behind it in the queue.
  for (int i = 0; LockAcquire(&tag, AccessExclusiveLock, false, true) == LOCKACQUIRE_NOT_AVAIL;
       i++) {
    if (i == kTries)
      ereport(ERROR, (errcode(ERRCODE_LOCK_NOT_AVAILABLE),
                      errmsg("could not lock database \"%s\"", get_database_name(MyDatabaseId)),
                      errhint("Try again when nobody connects to it, or alters it.")));
    nap(kBetweenTriesMs, WAIT_EVENT_PG_SLEEP);
  }
  int sessions;
  int prepared;
  if (!CountOtherDBBackends(MyDatabaseId, &sessions, &prepared)) return;
  ereport(
      ERROR,
      (errcode(ERRCODE_OBJECT_IN_USE),
       errmsg("database \"%s\" is being accessed by others", get_database_name(MyDatabaseId)),
       errdetail("Other sessions: %d (process IDs: %s). Prepared transactions: %d.", sessions,
                 sessions > 0 ? others_text() : "none", prepared),
       errhint("Nobody else may be connected. End the sessions with pg_terminate_backend(), and "
               "prepared transactions with COMMIT PREPARED or ROLLBACK PREPARED.")));
}

void alone_unlock() {
  const LOCKTAG tag = lock_tag();
  LockRelease(&tag, AccessExclusiveLock, false);
}

}  // namespace snowid::pg
