// The form of what lies in shared memory, by number: a session refuses to share what a library with
// another number has made. The room shared/ has a number, and so has each family, so that a change
// in one does not stop the others. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

// Of the root, its directory and the accounts. To be changed with anything about them that is
// pinned below or in accounts.hpp, and with what their fields mean.
#ifndef SNOWID_SHARED_ABI
#define SNOWID_SHARED_ABI 5
#endif

// Pins what an ABI number stands for, so that no change of form goes without another number.
#define SNOWID_PIN_SIZE(type, size) static_assert(sizeof(type) == (size))
#define SNOWID_PIN(type, field, offset) static_assert(offsetof(type, field) == (offset))

namespace snowid::pg {

// A lock's size is the server's own.
inline constexpr Size kLockSize = sizeof(LWLock);

}  // namespace snowid::pg
