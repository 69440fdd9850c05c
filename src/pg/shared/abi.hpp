// ABI numbers. Each stands for the form of a part of shared memory: a session refuses to use a part
// that a library with another number has made. The room shared/ has a number, and so has each
// family, so that a change in one does not stop the others. Nothing is shared here.
#pragma once

#include "pg/prelude.hpp"

// The number of the room: of the form of Root and Listed in table.cpp and of Usage in quota.hpp. To
// be changed with anything that is pinned there, and with what the fields mean.
#ifndef SNOWID_SHARED_ABI
#define SNOWID_SHARED_ABI 6
#endif

// Pins the size of a type, or the offset of a field, that lies in shared memory. A change of the
// form does not compile then, which is a reminder to change the ABI number, too.
#define SNOWID_PIN_SIZE(type, size) static_assert(sizeof(type) == (size))
#define SNOWID_PIN(type, field, offset) static_assert(offsetof(type, field) == (offset))

namespace snowid::pg {

// For offsets behind a lock: its size is the server's, and may differ from one build to another.
inline constexpr Size kLockSize = sizeof(LWLock);

}  // namespace snowid::pg
