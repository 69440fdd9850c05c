#include "pg/nodes/membership.hpp"

#include "pg/catalog_table.hpp"
#include "pg/compat.hpp"
#include "pg/database/database.hpp"
#include "pg/debug.hpp"
#include "pg/sequence_page.hpp"
#include "pg/xact.hpp"

extern "C" {
#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_type.h"
#include "common/hashfn.h"
#include "replication/logicalworker.h"
#include "storage/lmgr.h"
#include "storage/sinval.h"
#include "utils/inval.h"
}

namespace snowid::pg {

char* instance_tag = nullptr;

namespace {

// Version of the layout and meaning of Stored.
constexpr uint32 kVersion = 1;

// The special space of the second page.
struct Stored {
  uint32 version;
  Membership member;
};

static_assert(sizeof(Stored) == 480);

constexpr char kSequence[] = "membership_page";
constexpr char kTable[] = "membership";

Oid sequence_oid = InvalidOid;

Relation open_sequence(LOCKMODE lock) {
  Relation sequence = own_relation_open(kSequence, lock);
  require_permanent_sequence(sequence, "The node number would be lost in a crash.");
  sequence_oid = RelationGetRelid(sequence);
  return sequence;
}

// Reads no column of the row.
bool is_marked() {
  Relation table = own_relation_open(kTable, AccessShareLock);
  const bool is_found = has_row(table);
  table_close(table, AccessShareLock);
  return is_found;
}

uint64 hash_of_tag() {
  if (instance_tag == nullptr || *instance_tag == '\0') return 0;
  return hash_bytes_extended(reinterpret_cast<const unsigned char*>(instance_tag),
                             static_cast<int>(strlen(instance_tag)), 0);
}

// At once, not at the commit, which may fail: by the shared word, and by an invalidation.
void invalidate_in_all_sessions() {
  recheck_may_issue();
  SharedInvalidationMessage message{};
  message.rc.id = SHAREDINVALRELCACHE_ID;
  message.rc.dbId = MyDatabaseId;
  message.rc.relId = sequence_oid;
  SendSharedInvalidMessages(&message, 1);
  AcceptInvalidationMessages();
}

}  // namespace

Membership membership_read() {
  Membership member{};
  Relation sequence = open_sequence(AccessShareLock);
  Buffer buffer = second_page_lock(sequence, BUFFER_LOCK_SHARE);
  const auto* stored = static_cast<const Stored*>(second_page_read(sequence, buffer, kVersion));
  if (stored != nullptr) member = stored->member;
  second_page_unlock(buffer);
  relation_close(sequence, AccessShareLock);
  return member;
}

MemberState state_of(const Membership& member) {
  if (member.state == MemberState::kNone)
    return is_marked() ? MemberState::kRestored : MemberState::kNone;
  if (member.state == MemberState::kJoined && !is_bound(member)) return MemberState::kMoved;
  return member.state;
}

// A lock on an object of the relation: any role allowed to use nextval() could block the relation.
void membership_lock() {
  require_durable_commit();
  Relation sequence = open_sequence(AccessShareLock);
  LockDatabaseObject(RelationGetRelid(sequence), 0, 0, ExclusiveLock);
  relation_close(sequence, NoLock);
}

void membership_write(const Membership& member) {
  assert_holds_none();
  assert_has_object_lock(sequence_oid, 0, ExclusiveLock);
  Relation sequence = open_sequence(RowExclusiveLock);
  second_page_extend(sequence);
  Buffer buffer = second_page_lock(sequence, BUFFER_LOCK_EXCLUSIVE);
  GenericXLogState* change = GenericXLogStart(sequence);
  auto* stored = static_cast<Stored*>(second_page_change(change, buffer, sizeof(Stored)));
  *stored = {kVersion, member};
  const XLogRecPtr lsn = GenericXLogFinish(change);
  second_page_unlock(buffer);
  // Before the change is durable: at worst a valid number is rejected.
  invalidate_in_all_sessions();
  sequence_make_durable(lsn);
  relation_close(sequence, RowExclusiveLock);
}

bool is_bound(const Membership& member) {
  return member.system == GetSystemIdentifier() && member.database == MyDatabaseId &&
         (member.tag == 0 || member.tag == hash_of_tag());
}

void membership_bind(Membership* member) {
  member->system = GetSystemIdentifier();
  member->database = MyDatabaseId;
  member->tag = hash_of_tag();
}

void membership_row_store(const Membership& member) {
  Oid types[] = {INT8OID, TEXTOID};
  Datum values[] = {Int64GetDatum(member.number), CStringGetTextDatum(member.node)};
  own_table_execute(
      kTable,
      "INSERT INTO snowid_internal.membership (singleton, node_number, node_name)"
      " SELECT true, $1, $2 WHERE NOT EXISTS (SELECT FROM snowid_internal.membership"
      " WHERE node_number = $1 AND node_name = $2) ON CONFLICT (singleton)"
      " DO UPDATE SET node_number = excluded.node_number, node_name = excluded.node_name",
      lengthof(values), types, values, nullptr);
}

void membership_row_delete() {
  own_table_execute(kTable, "DELETE FROM snowid_internal.membership", 0, nullptr, nullptr, nullptr);
}

void report_state(const Membership& member) {
  const MemberState state = state_of(member);
  if (state == MemberState::kNone)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("database has not joined a registry"), errhint("Use snowid.join()."));
  if (state == MemberState::kLeaving || state == MemberState::kLeft)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("node \"%s\" has left the registry", member.node),
            errhint("To get another number, use snowid.join(). To issue IDs without a registry, "
                    "set \"snowid.default_shard\"."));
  if (state == MemberState::kRetired)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("registry has retired number " INT64_FORMAT " of node \"%s\"", member.number,
                   member.node),
            errhint("To get another number, use snowid.join()."));
  if (state == MemberState::kReplaced)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("another server has replaced this one as node \"%s\"", member.node),
            errdetail("It has checked number " INT64_FORMAT " at the registry, or taken it over.",
                      member.number),
            errhint("If this server is the copy, use snowid.join() to get another number. If it "
                    "will be the node, stop the other one, and use snowid.take_over_node()."));
  if (state == MemberState::kMoved)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("this server is not node \"%s\"", member.node),
            errdetail("It was copied, restored, or upgraded since, or its \"%s\" has changed.",
                      "snowid.instance_tag"),
            errhint("If it replaces the other server, stop the other one, and use "
                    "snowid.take_over_node(). "
                    "If both stay in use, use snowid.join() to get another number."));
  if (state == MemberState::kRestored)
    ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
            errmsg("database was restored from a dump of a node"),
            errdetail("Its number is not in the dump."),
            errhint("To get another number, use snowid.join(). To issue IDs without a registry, "
                    "set \"snowid.default_shard\"."));
  elog(ERROR, "unexpected state %d", static_cast<int>(state));
}

// The trigger on the tables of nodes, the registry, and remote sequences. Rows of logical
// replication are another server's, and skipped. A restored row of snowid_internal.membership takes
// effect at the commit.
SNOWID_FUNCTION(snowid_keep_own_rows) {
  const TriggerData* trigger =
      require_own_trigger(fcinfo, "Use the functions of extension \"snowid\" instead.");
  if (IsLogicalWorker()) PG_RETURN_DATUM(Datum{0});
  if (strcmp(RelationGetRelationName(trigger->tg_relation), kTable) == 0) {
    shared_number_change_with_transaction();
    CacheInvalidateRelcache(trigger->tg_relation);
  }
  PG_RETURN_POINTER(row_of(trigger));
}

}  // namespace snowid::pg
