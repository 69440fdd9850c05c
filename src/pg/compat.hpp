// Differences between server versions 15 to 19. Only this file contains PG_VERSION_NUM. What this
// and other adapters include is not repeated in the modules.
#pragma once

#include "pg/postgres.hpp"

extern "C" {
#include "catalog/pg_class.h"
#include "catalog/pg_foreign_server.h"
#include "commands/dbcommands.h"
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
#include "utils/dsa.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"  // get_database_name(), until PostgreSQL 18 by dbcommands.h
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
// whether this transaction replaced a relation's storage, without a rollback of that part.
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

// PostgreSQL 17 moved the local transaction ID into MyProc->vxid.
#if PG_VERSION_NUM >= 170000
inline LocalTransactionId current_lxid() noexcept { return MyProc->vxid.lxid; }
#else
inline LocalTransactionId current_lxid() noexcept { return MyProc->lxid; }
#endif

// PostgreSQL 16 merged the functions that check rights, and those that check owners.
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

// PostgreSQL 17 lets extensions name wait events. or_else: the event before 17.
inline uint32 wait_event([[maybe_unused]] const char* name,
                         [[maybe_unused]] uint32 or_else = PG_WAIT_EXTENSION) {
#if PG_VERSION_NUM >= 170000
  return WaitEventExtensionNew(name);
#else
  return or_else;
#endif
}

// Whether synchronous standbys are configured, as last read by the checkpointer. The minor releases
// of May 2025 replaced a bool by flags at its address; the bool's true is SYNC_STANDBY_INIT. The
// library may run on an older or newer minor release than its headers.
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
  // After a start, the checkpointer may not have read it yet.
  if ((status & kInit) == 0) return SyncRepStandbyNames != nullptr && *SyncRepStandbyNames != '\0';
  return (status & kDefined) != 0;
}

// Since 19, its creator names a tranche, not each session, and at most 256 exist (53400).
#if PG_VERSION_NUM >= 190000
inline int new_tranche(const char* name) { return LWLockNewTrancheId(name); }
inline void name_tranche(int, const char*) {}
#else
inline int new_tranche(const char*) { return LWLockNewTrancheId(); }
inline void name_tranche(int tranche, const char* name) { LWLockRegisterTranche(tranche, name); }
#endif

// Without the page's lock, its halves may be of two moments. PostgreSQL 19 has one number.
inline XLogRecPtr lsn_of(const volatile PageHeaderData* page) noexcept {
#if PG_VERSION_NUM >= 190000
  return PageXLogRecPtrGet(&page->pd_lsn);
#else
  return uint64{page->pd_lsn.xlogid} << 32 | page->pd_lsn.xrecoff;
#endif
}

// The modes of LockBuffer() are an enum since PostgreSQL 19.
#if PG_VERSION_NUM < 190000
using BufferLockMode = int;
#endif

// PostgreSQL 19 replicates sequences: a subscription may set one, like setval.
inline constexpr bool kReplicatesSequences = PG_VERSION_NUM >= 190000;

// -1 before PostgreSQL 17, which lacks the function.
inline int64 area_size(dsa_area* area) {
#if PG_VERSION_NUM >= 170000
  return static_cast<int64>(dsa_get_total_size(area));
#else
  (void)area;
  return -1;
#endif
}

// HOLD_INTERRUPTS and RESUME_INTERRUPTS use ++ and -- on a volatile, deprecated by C++20.
inline void hold_interrupts() { InterruptHoldoffCount = InterruptHoldoffCount + 1; }
inline void resume_interrupts() { InterruptHoldoffCount = InterruptHoldoffCount - 1; }

// Whether a role may SET ROLE to another: since PostgreSQL 16 an option of the grant.
#if PG_VERSION_NUM >= 160000
inline bool may_set_role(Oid member, Oid role) { return member_can_set_role(member, role); }
#else
inline bool may_set_role(Oid member, Oid role) { return is_member_of_role(member, role); }
#endif

// The transaction that holds a lock: one field instead of two since PostgreSQL 17.
#if PG_VERSION_NUM >= 170000
inline VirtualTransactionId holder_of(const LockInstanceData& lock) { return lock.vxid; }
#else
inline VirtualTransactionId holder_of(const LockInstanceData& lock) {
  return {lock.backend, lock.lxid};
}
#endif

// PostgreSQL 15 declares the walker without arguments, which C++ takes for none.
inline bool walk_expression(Node* node, bool (*walker)(Node*, void*), void* context) {
#if PG_VERSION_NUM >= 160000
  return expression_tree_walker(node, walker, context);
#else
  return expression_tree_walker(node, reinterpret_cast<bool (*)()>(reinterpret_cast<void*>(walker)),
                                context);
#endif
}

// Since PostgreSQL 17, LockHeldByMe() finds stronger modes, too.
inline bool has_lock(const LOCKTAG& tag, LOCKMODE mode) noexcept {
#if PG_VERSION_NUM >= 170000
  return LockHeldByMe(&tag, mode, true);
#else
  while (mode <= MaxLockMode && !LockHeldByMe(&tag, mode)) mode++;
  return mode <= MaxLockMode;
#endif
}

// PostgreSQL 17 gave dshash_parameters a function to copy keys: memcpy for keys of plain bytes.
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

// PostgreSQL 18 records a module's name and version (pg_get_loaded_modules).
#if PG_VERSION_NUM >= 180000
#define SNOWID_MODULE_MAGIC PG_MODULE_MAGIC_EXT(.name = "snowid", .version = SNOWID_VERSION)
#else
#define SNOWID_MODULE_MAGIC PG_MODULE_MAGIC
#endif

// PostgreSQL 16 builds modules with hidden visibility, and PG_FUNCTION_INFO_V1 exports functions.
// snowid is always built like that, and 15 does not export them.
#define SNOWID_EXPORT __attribute__((visibility("default")))
#define SNOWID_FUNCTION(name)                                        \
  extern "C" {                                                       \
  extern SNOWID_EXPORT Datum name(PG_FUNCTION_ARGS);                 \
  extern SNOWID_EXPORT const Pg_finfo_record* pg_finfo_##name(void); \
  PG_FUNCTION_INFO_V1(name);                                         \
  }                                                                  \
  Datum name([[maybe_unused]] PG_FUNCTION_ARGS)

// Soft errors of input functions, since PostgreSQL 16. May return. Requires: `fcinfo`.
#if PG_VERSION_NUM >= 160000
#define SNOWID_INPUT_ERROR(...) ereturn(fcinfo->context, Datum{0}, __VA_ARGS__)
#else
#define SNOWID_INPUT_ERROR(...) ereport(ERROR, __VA_ARGS__)
#endif

// Since PostgreSQL 19, a TupleDesc created by hand needs TupleDescFinalize(), or the server
// crashes, without a compiler warning. Columns come from catalogs instead.
#pragma GCC poison CreateTemplateTupleDesc TupleDescInitEntry
