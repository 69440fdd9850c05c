// Differences between the supported server versions, 15 to 19, each with the version and the
// reason. Nothing else names PG_VERSION_NUM.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "lib/dshash.h"
#include "nodes/nodeFuncs.h"
#include "nodes/parsenodes.h"
#include "replication/syncrep.h"
#include "replication/walsender_private.h"
#include "storage/bufpage.h"
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "utils/acl.h"
#include "utils/backend_status.h"
#include "utils/dsa.h"
#include "utils/guc.h"
#include "utils/rangetypes.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"
}

#if PG_VERSION_NUM < 150000 || PG_VERSION_NUM >= 200000
#error "snowid supports PostgreSQL 15 to 19"
#endif

static_assert(sizeof(void*) == 8 && sizeof(Datum) == 8, "snowid supports 64-bit platforms alone");
static_assert(BLCKSZ >= 4096, "snowid supports block sizes from 4 kB");

namespace snowid::pg {

// PostgreSQL 16 renamed relfilenode to relfilenumber, and rd_node to rd_locator. has_new_storage():
// whether this transaction has given a relation other storage than it was made with, in a part that
// is not rolled back.
#if PG_VERSION_NUM >= 160000
using FileNumber = RelFileNumber;
using FileLocator = RelFileLocator;
inline FileLocator locator_of(Relation relation) noexcept { return relation->rd_locator; }
inline FileNumber file_of(const FileLocator& locator) noexcept { return locator.relNumber; }
inline bool has_new_storage(Relation relation) noexcept {
  return relation->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
}
#else
using FileNumber = Oid;
using FileLocator = RelFileNode;
inline FileLocator locator_of(Relation relation) noexcept { return relation->rd_node; }
inline FileNumber file_of(const FileLocator& locator) noexcept { return locator.relNode; }
inline bool has_new_storage(Relation relation) noexcept {
  return relation->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
}
#endif
inline FileNumber file_of(Relation relation) noexcept { return file_of(locator_of(relation)); }

// The number of this session's transaction. PostgreSQL 17 moved it next to the session's.
#if PG_VERSION_NUM >= 170000
inline LocalTransactionId current_lxid() noexcept { return MyProc->vxid.lxid; }
#else
inline LocalTransactionId current_lxid() noexcept { return MyProc->lxid; }
#endif

// PostgreSQL 16 made one function of those that check rights, and one of those that check owners.
#if PG_VERSION_NUM >= 160000
inline bool owns_relation(Oid relid) {
  return object_ownercheck(RelationRelationId, relid, GetUserId());
}
inline AclResult check_usage_of_server(Oid server) {
  return object_aclcheck(ForeignServerRelationId, server, GetUserId(), ACL_USAGE);
}
#else
inline bool owns_relation(Oid relid) { return pg_class_ownercheck(relid, GetUserId()); }
inline AclResult check_usage_of_server(Oid server) {
  return pg_foreign_server_aclcheck(server, GetUserId(), ACL_USAGE);
}
#endif

// A wait event of snowid's. PostgreSQL 17 lets extensions name them; before, all of them show as
// "Extension". or_else: the event to show if extensions cannot name theirs.
inline uint32 wait_event([[maybe_unused]] const char* name,
                         [[maybe_unused]] uint32 or_else = PG_WAIT_EXTENSION) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  return or_else;
#endif
}

// Whether the server is to have synchronous standbys, as the checkpointer has last read it. The
// minor releases of May 2025 made a set of flags of what was a bool, in its place: its true is
// their SYNC_STANDBY_INIT. The library may run on an older server than it was built for, or a newer
// one.
inline bool has_synchronous_standbys() {
  constexpr uint8 kInit = 1 << 0;
  constexpr uint8 kDefined = 1 << 1;
  static int server = 0;
  if (server == 0) server = atoi(GetConfigOption("server_version_num", false, false));
#ifdef SYNC_STANDBY_INIT
  const volatile auto* place = &WalSndCtl->sync_standbys_status;
#else
  const volatile auto* place = &WalSndCtl->sync_standbys_defined;
#endif
  static_assert(sizeof(*place) == 1);
  const uint8 status = *reinterpret_cast<const volatile uint8*>(place);
  const int first = PG_VERSION_NUM >= 180000   ? 0
                    : PG_VERSION_NUM >= 170000 ? 170005
                    : PG_VERSION_NUM >= 160000 ? 160009
                                               : 150013;
  if (server < first) return status != 0;
  // Just after the start no process has read it yet.
  if ((status & kInit) == 0) return SyncRepStandbyNames != nullptr && *SyncRepStandbyNames != '\0';
  return (status & kDefined) != 0;
}

// A new tranche of locks. Up to PostgreSQL 18 each session gives it its name, from 19 on its maker
// does, for all; they may run out there: 256 in all, 53400.
#if PG_VERSION_NUM >= 190000
inline int new_tranche(const char* name) { return LWLockNewTrancheId(name); }
inline void name_tranche(int, const char*) {}
#else
inline int new_tranche(const char*) { return LWLockNewTrancheId(); }
inline void name_tranche(int tranche, const char* name) { LWLockRegisterTranche(tranche, name); }
#endif

// Where the WAL ends that a page needs, for those who have no lock on the page: then it may be of
// two moments. PostgreSQL 19 made one number of what were two halves.
inline XLogRecPtr lsn_of(const volatile PageHeaderData* page) noexcept {
#if PG_VERSION_NUM >= 190000
  return PageXLogRecPtrGet(&page->pd_lsn);
#else
  return uint64{page->pd_lsn.xlogid} << 32 | page->pd_lsn.xrecoff;
#endif
}

// PostgreSQL 19 replicates sequences: a subscription may set one, as setval does.
inline constexpr bool kReplicatesSequences = PG_VERSION_NUM >= 190000;

// The type that names a catalog cache to a callback: an enumeration since PostgreSQL 19.
#if PG_VERSION_NUM >= 190000
using CacheNumber = SysCacheIdentifier;
#else
using CacheNumber = int;
#endif

// How much memory of the system an area has, in bytes. PostgreSQL has a function for that from 17
// on; before, this is -1.
inline int64 area_size(dsa_area* area) {
#if PG_VERSION_NUM >= 170000
  return static_cast<int64>(dsa_get_total_size(area));
#else
  (void)area;
  return -1;
#endif
}

// HOLD_INTERRUPTS and RESUME_INTERRUPTS count in a volatile with ++ and --, which C++20 deprecates.
inline void hold_interrupts() { InterruptHoldoffCount = InterruptHoldoffCount + 1; }
inline void resume_interrupts() { InterruptHoldoffCount = InterruptHoldoffCount - 1; }

// Whether a role may SET ROLE to another one: since PostgreSQL 16 an option of the grant.
#if PG_VERSION_NUM >= 160000
inline bool may_set_role(Oid member, Oid role) { return member_can_set_role(member, role); }
#else
inline bool may_set_role(Oid member, Oid role) { return is_member_of_role(member, role); }
#endif

// The transaction that holds a lock. PostgreSQL 17 made one field of two.
#if PG_VERSION_NUM >= 170000
inline VirtualTransactionId holder_of(const LockInstanceData& lock) { return lock.vxid; }
#else
inline VirtualTransactionId holder_of(const LockInstanceData& lock) {
  return {lock.backend, lock.lxid};
}
#endif

// Up to PostgreSQL 15 the type of the walker declares no arguments, which to a C++ compiler means
// that it has none.
inline bool walk_expression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_walker(node, walker, context);
#else
  return expression_tree_walker(node, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)),
                                context);
#endif
}

// PostgreSQL 17 has LockHeldByMe() look for stronger modes, too.
inline bool has_lock(const LOCKTAG& tag, LOCKMODE mode) noexcept {
#if PG_VERSION_NUM >= 170000
  return LockHeldByMe(&tag, mode, true);
#else
  while (mode <= MaxLockMode && !LockHeldByMe(&tag, mode)) mode++;
  return mode <= MaxLockMode;
#endif
}

// PostgreSQL 16 renamed this, and lets the caller of make_range() ask to be told of an error
// without one being raised.
#if PG_VERSION_NUM >= 160000
inline LocalPgBackendStatus* local_backend(int index) {
  return pgstat_get_local_beentry_by_index(index);
}
inline RangeType* make_range_of(TypeCacheEntry* type, RangeBound* lower, RangeBound* upper) {
  return make_range(type, lower, upper, false, nullptr);
}
#else
inline LocalPgBackendStatus* local_backend(int index) {
  return pgstat_fetch_stat_local_beentry(index);
}
inline RangeType* make_range_of(TypeCacheEntry* type, RangeBound* lower, RangeBound* upper) {
  return make_range(type, lower, upper, false);
}
#endif

// PostgreSQL 17 gave dshash_parameters a function that copies keys; keys of plain bytes need
// memcpy.
inline dshash_parameters byte_keyed(size_t key_size, size_t entry_size, int tranche) {
  dshash_parameters parameters{};
  parameters.key_size = key_size;
  parameters.entry_size = entry_size;
  parameters.compare_function = dshash_memcmp;
  parameters.hash_function = dshash_memhash;
#if PG_VERSION_NUM >= 170000
  parameters.copy_function = dshash_memcpy;
#endif
  parameters.tranche_id = tranche;
  return parameters;
}

}  // namespace snowid::pg

// PostgreSQL 18 lets a module state its name and version (pg_get_loaded_modules).
#if PG_VERSION_NUM >= 180000
#define SNOWID_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "snowid", .version = SNOWID_VERSION)
#else
#define SNOWID_MODULE_MAGIC PG_MODULE_MAGIC
#endif

// Begins the definition of a function that SQL calls. PostgreSQL 16 builds modules with hidden
// visibility and has PG_FUNCTION_INFO_V1 export the function. snowid is built like that everywhere,
// and 15 neither exports the function nor knows how to.
#define SNOWID_EXPORT __attribute__((visibility("default")))
#define SNOWID_FUNCTION(name)                                        \
  extern "C" {                                                       \
  extern SNOWID_EXPORT Datum name(PG_FUNCTION_ARGS);                 \
  extern SNOWID_EXPORT const Pg_finfo_record* pg_finfo_##name(void); \
  PG_FUNCTION_INFO_V1(name);                                         \
  }                                                                  \
  Datum name([[maybe_unused]] PG_FUNCTION_ARGS)

// PostgreSQL 16 lets the caller of a type's input function ask to be told of malformed input
// without an error being raised (pg_input_is_valid). For input functions alone, in place of
// ereport(ERROR, …): it uses their fcinfo, and returns from them.
#if PG_VERSION_NUM >= 160000
#define SNOWID_INPUT_ERROR(...) ereturn(fcinfo->context, Datum{0}, __VA_ARGS__)
#else
#define SNOWID_INPUT_ERROR(...) ereport(ERROR, __VA_ARGS__)
#endif

// From PostgreSQL 19 on a TupleDesc made by hand needs TupleDescFinalize(), or the server crashes,
// and no compiler warns. None is made here: columns come from the catalogs, a function's or a
// table's.
#pragma GCC poison CreateTemplateTupleDesc TupleDescInitEntry
