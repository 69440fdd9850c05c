// Reading and storing a membership. See membership.hpp and member.hpp.
#include "pg/nodes/membership.hpp"

#include "pg/base/locks.hpp"
#include "pg/base/random.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/nodes/durable_commit.hpp"
#include "pg/nodes/member.hpp"
#include "pg/server/own_table.hpp"
#include "pg/server/sequence_page.hpp"

namespace snowid::pg {

namespace {

// The columns of snowid.membership.
enum Column : int {
  kSingleton,
  kNumber,
  kNode,
  kServer,
  kSecret,
  kIncarnation,
  kSystem,
  kDatabase,
  kJoined,
  kChecked,
  kColumns,
};
constexpr Oid kTypes[kColumns] = {BOOLOID, INT8OID, TEXTOID, TEXTOID,        TEXTOID,
                                  INT8OID, INT8OID, OIDOID,  TIMESTAMPTZOID, TIMESTAMPTZOID};
constexpr OwnTable kMembership = {"membership", kTypes, kColumns, 0};

constexpr const char* kSequences[] = {"membership_mark", "membership_token"};

// What this session knows the relations by, InvalidOid before it has looked.
Oid table_oid = InvalidOid;
Oid mark_oid = InvalidOid;

Relation open_word(Word word, LOCKMODE lock) {
  return own_sequence_open(kSequences[static_cast<int>(word)], lock);
}

// Whether the mark is of a take-over that has not come to its end: had it, the row would be of it,
// too. The token is, once the registry has agreed.
bool is_being_taken(int64 incarnation, int64 mark) {
  const int64 taking = IncarnationOf(mark);
  if (IsOfClaim(taking) || NonceOf(mark) < kLeastNonce) return false;
  const int64 known = IncarnationOf(word_read(Word::kToken));
  return known == incarnation || known == taking;
}

// What a row's mark says of it. The row is this server's and this database's.
MemberState state_of(int64 incarnation, int64 mark) {
  if (incarnation < 1) return MemberState::kMoved;
  if (IncarnationOf(mark) != incarnation)
    return is_being_taken(incarnation, mark) ? MemberState::kTaking : MemberState::kMoved;
  if (NonceOf(mark) == kLeavingNonce) return MemberState::kLeaving;
  if (NonceOf(mark) == kCopyNonce) return MemberState::kCopy;
  return NonceOf(mark) >= kLeastNonce ? MemberState::kJoined : MemberState::kMoved;
}

// The one row, or nullptr. The scan is to be ended once it has been read.
HeapTuple find_row(Relation table, SysScanDesc* scan) {
  *scan = systable_beginscan(table, InvalidOid, false, nullptr, 0, nullptr);
  return systable_getnext(*scan);
}

// Has all sessions forget at once what they know of the mark, and not only when this transaction
// commits: it may be about to fail. Those that have drawn look with each draw, the others with each
// transaction.
void tell_everybody(Oid relid) {
  shared_number_change();
  SharedInvalidationMessage message{};
  message.rc.id = SHAREDINVALRELCACHE_ID;
  message.rc.dbId = MyDatabaseId;
  message.rc.relId = relid;
  SendSharedInvalidMessages(&message, 1);
  AcceptInvalidationMessages();
}

// To be called where the row is changed. If that were lost in a crash this database would draw from
// 0 again, or from what it has left; if it were prepared, nobody would hear of its commit.
void announce_change(Relation table) {
  require_durable_commit();
  shared_number_change_with_transaction();
  CacheInvalidateRelcache(table);
}

}  // namespace

Member member_read(Relation table) {
  table_oid = RelationGetRelid(table);
  SysScanDesc scan;
  HeapTuple row = find_row(table, &scan);
  Member member{{MemberState::kNone, 0, nullptr, nullptr}, nullptr, 0};
  if (HeapTupleIsValid(row)) {
    Datum values[kColumns];
    bool nulls[kColumns];
    heap_deform_tuple(row, RelationGetDescr(table), values, nulls);
    member = {{MemberState::kMoved, DatumGetInt64(values[kNumber]),
               TextDatumGetCString(values[kNode]), TextDatumGetCString(values[kServer])},
              TextDatumGetCString(values[kSecret]),
              DatumGetInt64(values[kIncarnation])};
    // Opened before its page is read, which comes last: what is told of it from then on is news.
    Relation mark = open_word(Word::kMark, AccessShareLock);
    mark_oid = RelationGetRelid(mark);
    if (static_cast<uint64>(DatumGetInt64(values[kSystem])) == GetSystemIdentifier() &&
        DatumGetObjectId(values[kDatabase]) == MyDatabaseId)
      member.state = state_of(member.incarnation, sequence_last(mark));
    relation_close(mark, AccessShareLock);
  }
  systable_endscan(scan);
  return member;
}

Membership membership_read() {
  Relation table = own_table_open(kMembership, AccessShareLock);
  const Member member = member_read(table);
  table_close(table, AccessShareLock);
  return member;
}

void report_membership(const Membership& member) {
  switch (member.state) {
    case MemberState::kNone:
      ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                      errmsg("database has not joined a registry"), errhint("Use snowid_join().")));
      break;
    case MemberState::kLeaving:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("node \"%s\" is leaving the registry", member.node),
               errdetail("snowid_leave() has begun and has not come to its end."),
               errhint("Use snowid_leave() again; or, to stay, snowid_check(take_over => true).")));
      break;
    case MemberState::kMoved:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("this is not the database that has joined as node \"%s\"", member.node),
               errdetail("It was restored or copied, or the server was upgraded, since it got "
                         "number " INT64_FORMAT ".",
                         member.number),
               errhint("Use snowid_check(take_over => true) where this server replaces that one, "
                       "or snowid_join() under a new name where both are to live.")));
      break;
    case MemberState::kCopy:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("another server goes by number " INT64_FORMAT " of node \"%s\"",
                      member.number, member.node),
               errhint("Use snowid_join() under a new name where this is the copy; stop the other "
                       "one, and use snowid_check(take_over => true), where this is to be the "
                       "node.")));
      break;
    case MemberState::kTaking:
      ereport(ERROR,
              (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
               errmsg("number " INT64_FORMAT " of node \"%s\" is being taken over", member.number,
                      member.node),
               errdetail("snowid_check(take_over => true) has begun and has not come to its end."),
               errhint("Use it again; or, to give the number up, snowid_leave().")));
      break;
    case MemberState::kJoined:
      break;
  }
  elog(ERROR, "unexpected state %d", static_cast<int>(member.state));
  pg_unreachable();
}

bool IsMembership(Oid relid) {
  return relid == InvalidOid || relid == table_oid || relid == mark_oid;
}

int64 new_incarnation(Use use) {
  uint32 random;
  fetch_random(&random, sizeof(random));
  // Less than 2^31, and not 0.
  return std::max(random >> 1 & ~uint32{1}, uint32{2}) - (use == Use::kClaim ? 1 : 0);
}

int64 new_token(int64 incarnation) {
  uint32 random;
  fetch_random(&random, sizeof(random));
  return MarkOf(incarnation, std::max(int64{random}, kLeastNonce));
}

Relation member_lock() { return own_table_open(kMembership, ShareRowExclusiveLock); }

void member_store(Relation table, const Member& member, bool is_new) {
  AssertHasLock(RelationGetRelid(table), ShareRowExclusiveLock);
  const Datum now = TimestampTzGetDatum(GetCurrentTimestamp());
  Datum values[kColumns];
  bool nulls[kColumns] = {};
  bool replaces[kColumns];
  values[kSingleton] = BoolGetDatum(true);
  values[kNumber] = Int64GetDatum(member.number);
  values[kNode] = CStringGetTextDatum(member.node);
  values[kServer] = CStringGetTextDatum(member.server);
  values[kSecret] = CStringGetTextDatum(member.secret);
  values[kIncarnation] = Int64GetDatum(member.incarnation);
  values[kSystem] = Int64GetDatum(static_cast<int64>(GetSystemIdentifier()));
  values[kDatabase] = ObjectIdGetDatum(MyDatabaseId);
  values[kJoined] = now;
  values[kChecked] = now;
  std::fill_n(replaces, int{kColumns}, true);
  replaces[kJoined] = is_new;

  SysScanDesc scan;
  HeapTuple row = find_row(table, &scan);
  if (HeapTupleIsValid(row))
    CatalogTupleUpdate(table, &row->t_self,
                       heap_modify_tuple(row, RelationGetDescr(table), values, nulls, replaces));
  else
    CatalogTupleInsert(table, heap_form_tuple(RelationGetDescr(table), values, nulls));
  systable_endscan(scan);
  announce_change(table);
  CommandCounterIncrement();
}

void member_delete(Relation table) {
  AssertHasLock(RelationGetRelid(table), ShareRowExclusiveLock);
  SysScanDesc scan;
  HeapTuple row = find_row(table, &scan);
  if (HeapTupleIsValid(row)) CatalogTupleDelete(table, &row->t_self);
  systable_endscan(scan);
  announce_change(table);
  CommandCounterIncrement();
}

int64 word_read(Word word) {
  Relation sequence = open_word(word, AccessShareLock);
  const int64 value = sequence_last(sequence);
  relation_close(sequence, AccessShareLock);
  return value;
}

void word_write(Word word, int64 value) {
  AssertHasLock(table_oid, ShareRowExclusiveLock);
  AssertHoldsNone();
  Relation sequence = open_word(word, RowExclusiveLock);
  const SequencePage page = sequence_page_lock(sequence);
  const XLogRecPtr lsn = sequence_page_set(page, value);
  sequence_page_unlock(page);
  // Before it is durable: from here on it can only be refused more than it has to be.
  if (word == Word::kMark && NonceOf(value) < kLeastNonce)
    tell_everybody(RelationGetRelid(sequence));
  sequence_make_durable(lsn);
  relation_close(sequence, RowExclusiveLock);
}

void wait_for_transactions() {
  AssertHoldsNone();
  int count;
  // A transaction that is not among these begins later, and first hears what everybody was told.
  constexpr bool kExceptWithoutSnapshot = false;
  constexpr bool kOfAllDatabases = false;
  const VirtualTransactionId* running =
      GetCurrentVirtualXIDs(InvalidTransactionId, kExceptWithoutSnapshot, kOfAllDatabases,
                            PROC_IN_VACUUM | PROC_IS_AUTOVACUUM, &count);
  if (count > 0)
    ereport(NOTICE, (errmsg_plural("waiting for %d transaction of this database to end",
                                   "waiting for %d transactions of this database to end",
                                   static_cast<unsigned long>(count), count)));
  for (int i = 0; i < count; i++) VirtualXactLock(running[i], true);
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_keep_membership);

// The trigger on snowid.membership. Rows that logical replication brings are another node's, and
// are skipped; one that is restored counts from now on.
Datum snowid_keep_membership(PG_FUNCTION_ARGS) {
  const TriggerData* trigger = require_own_trigger(
      fcinfo, "keep_membership", "Use snowid_join(), snowid_check() and snowid_leave().");
  if (IsLogicalWorker()) PG_RETURN_POINTER(nullptr);
  announce_change(trigger->tg_relation);
  PG_RETURN_POINTER(row_of(trigger));
}
}
