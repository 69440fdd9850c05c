// Bounds that tests lower instead of filling a server. In a library for tests, which is built with
// SNOWID_DEBUG, they are settings called snowid.debug_…; in one for users they are constants, and
// there are no such settings.
//
// Locks that a caller must hold, or must not hold: checked if the server is built with assertions.
// Nothing is shared.
#pragma once

#include "pg/postgres.hpp"

#include "pg/compat.hpp"

extern "C" {
#include "storage/lock.h"
#include "storage/lwlock.h"
#include "utils/guc.h"
}

#ifdef SNOWID_DEBUG
#define SNOWID_BOUND(name, value) inline int name = (value)
#else
#define SNOWID_BOUND(name, value) inline constexpr int name = (value)
#endif

namespace snowid::pg {

#ifdef SNOWID_DEBUG
inline constexpr bool kIsDebug = true;
#else
inline constexpr bool kIsDebug = false;
#endif

// Defines the setting of a bound in a library for tests; does nothing for a constant.
inline void bound_register(const char* setting, int* bound) {
  DefineCustomIntVariable(setting, "A bound that tests lower.", nullptr, bound, *bound, 0, INT_MAX,
                          PGC_USERSET, GUC_NOT_IN_SAMPLE, nullptr, nullptr, nullptr);
}
inline void bound_register(const char*, const int*) {}

// This process holds the LWLock: in any mode, or exclusively.
inline void assert_holds([[maybe_unused]] const LWLock& lock) noexcept {
  Assert(LWLockHeldByMe(const_cast<LWLock*>(&lock)));
}
inline void assert_holds_exclusively([[maybe_unused]] const LWLock& lock) noexcept {
  Assert(LWLockHeldByMeInMode(const_cast<LWLock*>(&lock), LW_EXCLUSIVE));
}

// It holds no LWLock, a buffer's content lock included, and may therefore wait, read catalogs, and
// call functions that may fail. PostgreSQL has no function for whether any is held, but each holds
// interrupts off.
inline void assert_holds_none() noexcept { Assert(InterruptHoldoffCount == 0); }

// It holds some: a buffer's, or that of a partition of a dshash table, which dshash does not name.
inline void assert_holds_some() noexcept { Assert(InterruptHoldoffCount > 0); }

// This transaction has the lock of a relation, or of what LockDatabaseObject() takes for an object
// of it, in this mode or a stronger one.
inline void assert_has_lock([[maybe_unused]] Oid relid, [[maybe_unused]] LOCKMODE mode) noexcept {
#ifdef USE_ASSERT_CHECKING
  LOCKTAG tag;
  SET_LOCKTAG_RELATION(tag, MyDatabaseId, relid);
  Assert(has_lock(tag, mode));
#endif
}
inline void assert_has_object_lock([[maybe_unused]] Oid relid, [[maybe_unused]] Oid object,
                                   [[maybe_unused]] LOCKMODE mode,
                                   [[maybe_unused]] Oid database = MyDatabaseId) noexcept {
#ifdef USE_ASSERT_CHECKING
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, database, relid, object, 0);
  Assert(has_lock(tag, mode));
#endif
}

// The lock of an object that all databases share, this database for one.
inline void assert_has_shared_object_lock(Oid relid, Oid object, LOCKMODE mode) noexcept {
  assert_has_object_lock(relid, object, mode, InvalidOid);
}

}  // namespace snowid::pg
