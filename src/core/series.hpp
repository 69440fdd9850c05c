// MariaDB's sequence tables: the numbers of seq_FROM_to_TO[_step_STEP]. Pure functions.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

#include "core/types.hpp"

namespace snowid::core {

// The numbers first, first ± step, … last. Never empty.
struct Series {
  int64_t first;
  int64_t last;
  uint64_t step;  // the distance between neighbors; they descend if last < first
};

// FROM x TO y. A descending series ends at y. A great step leaves only x. Fails: kStepOutOfRange.
constexpr Status make_series(int64_t x, int64_t y, int64_t step, Series* series) noexcept {
  if (step <= 0) return Status::kStepOutOfRange;
  const uint64_t width = static_cast<uint64_t>(step);
  // Unsigned, because the difference of two bigints can exceed a bigint.
  const uint64_t low = static_cast<uint64_t>(x < y ? x : y);
  const uint64_t difference = static_cast<uint64_t>(x < y ? y : x) - low;
  if (width > difference) {
    *series = {x, x, width};
    return Status::kOk;
  }
  const int64_t top = static_cast<int64_t>(low + difference / width * width);
  *series = x <= y ? Series{x, top, width} : Series{top, y, width};
  return Status::kOk;
}

// The length of a series, as a double because it can be 2^64.
constexpr double count_of(const Series& series) noexcept {
  const uint64_t first = static_cast<uint64_t>(series.first);
  const uint64_t last = static_cast<uint64_t>(series.last);
  const uint64_t difference = series.first < series.last ? last - first : first - last;
  return static_cast<double>(difference / series.step) + 1;
}

// Reads seq_FROM_to_TO[_step_STEP], in lower case, with numbers of digits alone. Fails with
// kMalformed, kNumberOutOfRange (above 2^63 - 1), or kStepOutOfRange (0).
inline Status parse_series_name(std::string_view name, Series* series) noexcept {
  const auto take_word = [&name](std::string_view word) {
    if (name.size() < word.size() || !std::equal(word.begin(), word.end(), name.begin()))
      return false;
    name.remove_prefix(word.size());
    return true;
  };
  const auto take_number = [&name](int64_t* number) {
    if (name.empty() || name.front() < '0' || name.front() > '9') return Status::kMalformed;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), *number);
    name.remove_prefix(static_cast<size_t>(rest - name.data()));
    return error == std::errc{} ? Status::kOk : Status::kNumberOutOfRange;
  };

  int64_t x = 0;
  int64_t y = 0;
  int64_t step = 1;
  Status x_status = Status::kOk;
  Status y_status = Status::kOk;
  Status step_status = Status::kOk;
  if (!take_word("seq_") || (x_status = take_number(&x)) == Status::kMalformed ||
      !take_word("_to_") || (y_status = take_number(&y)) == Status::kMalformed)
    return Status::kMalformed;
  if (!name.empty() &&
      (!take_word("_step_") || (step_status = take_number(&step)) == Status::kMalformed))
    return Status::kMalformed;
  if (!name.empty()) return Status::kMalformed;
  for (const Status status : {x_status, y_status, step_status})
    if (status != Status::kOk) return status;
  return make_series(x, y, step, series);
}

}  // namespace snowid::core
