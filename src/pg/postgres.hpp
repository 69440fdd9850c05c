// What each file of src/pg begins with, as C files do with postgres.h. PostgreSQL's headers are C,
// and up to PostgreSQL 15 do not say so to a C++ compiler: each file has those that it uses in one
// extern "C" block, after all others. They also redefine names of the C library, so what src uses
// of the C++ library is included here, before them, and nowhere else in src/pg.
#pragma once

// Some compilers and distributions have the C++ library check itself, and call it to report what it
// has found. snowid calls nothing of it at run time, since PostgreSQL need not have loaded it.
#undef _GLIBCXX_ASSERTIONS
#define _GLIBCXX_NO_ASSERTIONS

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

extern "C" {
// clang-format off: postgres.h comes before the others
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
// clang-format on
}
