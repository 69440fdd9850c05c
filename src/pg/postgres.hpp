// The first header of each file of src/pg, as postgres.h is in C files. Headers of the C++ library
// are included here alone: PostgreSQL's headers redefine names of the C library, and must come
// later. A file includes PostgreSQL's headers in one extern "C" block, because those of version 15
// lack it.
#pragma once

// No run-time checks of the C++ library, which some distributions enable: they call its functions,
// and PostgreSQL may not have loaded the library.
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
// clang-format off: postgres.h comes first
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
// clang-format on
}
