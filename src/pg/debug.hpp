// Bounds lowered by tests: settings called snowid.debug_… in a library built with SNOWID_DEBUG,
// constants in others. Assertions about locks.
#pragma once

#include "pg/postgres.hpp"

#include "pg/compat.hpp"

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

inline void bound_register(const char* setting, int* bound) {
  DefineCustomIntVariable(setting, "A bound that tests lower.", nullptr, bound, *bound, 0, INT_MAX,
                          PGC_USERSET, GUC_NOT_IN_SAMPLE, nullptr, nullptr, nullptr);
}
inline void bound_register(const char*, const int*) {}

inline void assert_holds_exclusively([[maybe_unused]] const LWLock& lock) noexcept {
  Assert(LWLockHeldByMeInMode(const_cast<LWLock*>(&lock), LW_EXCLUSIVE));
}

// This process holds no LWLock or content lock: it may wait, read catalogs, and raise errors.
// PostgreSQL cannot tell, but each such lock holds interrupts off.
inline void assert_holds_none() noexcept { Assert(InterruptHoldoffCount == 0); }

// This process holds a buffer's lock, or a dshash partition's, which cannot be named.
inline void assert_holds_some() noexcept { Assert(InterruptHoldoffCount > 0); }

// In this mode or a stronger one, as by LockDatabaseObject(); an object that all databases share,
// as by LockSharedObject(), has no database.
inline void assert_has_object_lock([[maybe_unused]] Oid relid, [[maybe_unused]] Oid object,
                                   [[maybe_unused]] LOCKMODE mode,
                                   [[maybe_unused]] Oid database = MyDatabaseId) noexcept {
#ifdef USE_ASSERT_CHECKING
  LOCKTAG tag;
  SET_LOCKTAG_OBJECT(tag, database, relid, object, 0);
  Assert(has_lock(tag, mode));
#endif
}

}  // namespace snowid::pg
