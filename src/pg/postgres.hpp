// The first header of each file of src/pg, as postgres.h is for C files. PostgreSQL's headers are
// C, and up to PostgreSQL 15 not marked as such for a C++ compiler: each file includes those that
// it uses in one extern "C" block, after all other headers. They also redefine names of the C
// library, so headers of the C++ library are included here, before them, and nowhere else in
// src/pg.
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
// clang-format off: postgres.h comes first
#include "postgres.h"

#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
// clang-format on
}
