// Reading and storing the row. See member.hpp.
#include "pg/nodes/member.hpp"

#include "pg/base/locks.hpp"
#include "pg/base/random.hpp"
#include "pg/compat.hpp"
#include "pg/database/database.hpp"
#include "pg/ids/ids.hpp"
#include "pg/server/durable_commit.hpp"
#include "pg/server/own_table.hpp"

namespace snowid::pg {

namespace {

// The columns of snowid_internal.membership.
enum Column : int {
  kSingleton,
  kNumber,
  kNode,
  kServer,
  kRegistry,
  kSecret,
  kIncarnation,
  kSystem,
  kDatabase,
  kServerKey,
  kJoined,
  kChecked,
  kColumns,
};
constexpr Oid kTypes[kColumns] = {BOOLOID, INT8OID, TEXTOID,        TEXTOID,
                                  TEXTOID, TEXTOID, INT8OID,        INT8OID,
                                  OIDOID,  TEXTOID, TIMESTAMPTZOID, TIMESTAMPTZOID};
constexpr OwnTable kMembership = {.name = "membership",
                                  .types = kTypes,
                                  .columns = kColumns,
                                  .own_type_length = 0,
                                  .nullable = 0,
                                  .key_columns = kSingleton + 1,
                                  .checks = 2,
                                  .trigger = "keep_membership"};

Oid table_oid = InvalidOid;

// The state of a row that was stored by this server and this database, by the words.
MemberState state_of(int64 incarnation) {
  const Words words = words_read();
  if (incarnation < 1) return MemberState::kMoved;
  if (words.copy_of == incarnation) return MemberState::kCopy;
  if (words.incarnation != incarnation) return MemberState::kMoved;
  switch (words.state) {
    case WordsState::kJoined:
      return MemberState::kJoined;
    case WordsState::kLeft:
      return MemberState::kLeft;
    default:
      return MemberState::kMoved;
  }
}

// Whether the server's key is the one with which the row was stored. A row without a key fits every
// server.
bool has_server_key(const char* stored) {
  return *stored == '\0' || strcmp(stored, server_key) == 0;
}

// The one row, or nullptr. The scan is to be ended once it has been read.
HeapTuple find_row(Relation table, SysScanDesc* scan) {
  *scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  return systable_getnext(*scan);
}

// A column of the row, none of which is null.
Datum column_of(Relation table, HeapTuple row, Column column) {
  bool is_null;
  return heap_getattr(row, column + 1, RelationGetDescr(table), &is_null);
}

// Called where the row is changed. The commit must be durable: if it were lost in a crash this
// database would draw from 0 again, or from a number that it has left. It must not be prepared: no
// session would notice the later commit.
void announce_change(Relation table) {
  require_durable_commit();
  shared_number_change_with_transaction();
  CacheInvalidateRelcache(table);
}

}  // namespace

Oid member_relid() { return table_oid; }

Relation member_open(LOCKMODE mode) { return own_table_open(kMembership, mode); }

// Any role can get a RowExclusiveLock on any relation, by nextval() of its OID, and keep it. So
// what there is one of at a time is another lock.
Relation member_lock() {
  Relation table = member_open(RowExclusiveLock);
  LockDatabaseObject(RelationGetRelid(table), 0, 0, ExclusiveLock);
  return table;
}

Member member_read(Relation table) {
  table_oid = RelationGetRelid(table);
  SysScanDesc scan;
  HeapTuple row = find_row(table, &scan);
  Member member{{MemberState::kNone, 0, nullptr, nullptr}, nullptr, nullptr, 0};
  if (HeapTupleIsValid(row)) {
    require_no_null(table, kMembership, row);
    Datum values[kColumns];
    for (int i = 0; i < kColumns; i++) values[i] = column_of(table, row, Column{i});
    member = {{MemberState::kMoved, DatumGetInt64(values[kNumber]),
               TextDatumGetCString(values[kNode]), TextDatumGetCString(values[kServer])},
              TextDatumGetCString(values[kRegistry]),
              TextDatumGetCString(values[kSecret]),
              DatumGetInt64(values[kIncarnation])};
    // The words are read last: an invalidation that comes after that makes the caller read them
    // again.
    if (static_cast<uint64>(DatumGetInt64(values[kSystem])) == GetSystemIdentifier() &&
        DatumGetObjectId(values[kDatabase]) == MyDatabaseId &&
        has_server_key(TextDatumGetCString(values[kServerKey])))
      member.state = state_of(member.incarnation);
  }
  systable_endscan(scan);
  return member;
}

int64 new_incarnation() {
  uint64 random;
  fetch_random(&random, sizeof(random));
  return std::max(static_cast<int64>(random >> 1), int64{1});
}

void member_store(Relation table, const Member& member, Words words, bool is_new) {
  AssertHasObjectLock(RelationGetRelid(table), 0, ExclusiveLock);
  const Datum now = TimestampTzGetDatum(GetCurrentTimestamp());
  Datum values[kColumns];
  bool nulls[kColumns] = {};
  values[kSingleton] = BoolGetDatum(true);
  values[kNumber] = Int64GetDatum(member.number);
  values[kNode] = CStringGetTextDatum(member.node);
  values[kServer] = CStringGetTextDatum(member.server);
  values[kRegistry] = CStringGetTextDatum(member.registry);
  values[kSecret] = CStringGetTextDatum(member.secret);
  values[kIncarnation] = Int64GetDatum(member.incarnation);
  values[kSystem] = Int64GetDatum(static_cast<int64>(GetSystemIdentifier()));
  values[kDatabase] = ObjectIdGetDatum(MyDatabaseId);
  values[kServerKey] = CStringGetTextDatum(server_key);
  values[kJoined] = now;
  values[kChecked] = now;

  SysScanDesc scan;
  HeapTuple row = find_row(table, &scan);
  if (HeapTupleIsValid(row) && !is_new) values[kJoined] = column_of(table, row, kJoined);
  HeapTuple stored = own_row_form(table, kMembership, values, nulls);
  if (HeapTupleIsValid(row))
    CatalogTupleUpdate(table, &row->t_self, stored);
  else
    CatalogTupleInsert(table, stored);
  systable_endscan(scan);
  announce_change(table);
  CommandCounterIncrement();

  words.state = WordsState::kJoined;
  words.incarnation = member.incarnation;
  words_write(words);
}

void member_delete(Relation table) {
  AssertHasObjectLock(RelationGetRelid(table), 0, ExclusiveLock);
  SysScanDesc scan;
  HeapTuple row = find_row(table, &scan);
  if (HeapTupleIsValid(row)) CatalogTupleDelete(table, &row->t_self);
  systable_endscan(scan);
  announce_change(table);
  CommandCounterIncrement();
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_keep_membership);

// The trigger on snowid_internal.membership. Rows that logical replication brings are another
// node's, and are skipped; one that is restored counts from now on.
Datum snowid_keep_membership(PG_FUNCTION_ARGS) {
  const TriggerData* trigger = require_own_trigger(
      fcinfo, "keep_membership", "Use snowid_join(), snowid_check() and snowid_leave().");
  if (IsLogicalWorker()) PG_RETURN_DATUM(Datum{0});
  announce_change(trigger->tg_relation);
  PG_RETURN_POINTER(row_of(trigger));
}
}
