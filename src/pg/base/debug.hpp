// Bounds that tests lower, so that they need not fill a server. In a library for tests, which is
// built with SNOWID_DEBUG, they are settings called snowid.debug_…; in one for users they are
// constants, and there are no such settings.
#pragma once

#include "pg/prelude.hpp"

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

}  // namespace snowid::pg
