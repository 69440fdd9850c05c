// The first header of each file of src/pg, like postgres.h. The C++ library's headers are included
// here alone, because PostgreSQL's, which must come later, redefine names of the C library. Files
// include PostgreSQL's headers in one extern "C" block, which those of version 15 lack.
#pragma once

// No run-time checks of the C++ library: they call it, and PostgreSQL may not have loaded it.
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
#include <initializer_list>
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

// C's 64-bit integers. PostgreSQL's are another type on macOS, before version 18.
namespace snowid {
using int64 = int64_t;
using uint64 = uint64_t;
}  // namespace snowid
