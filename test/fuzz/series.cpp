// Fuzzes the names of core/series.hpp.
#include "core/series.hpp"

#include <array>
#include <string>
#include <vector>

#include "fuzz.hpp"

namespace snowid::core::test {
namespace {

// The parts between the underscores.
std::vector<std::string_view> WordsOf(std::string_view name) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t end = name.find('_');
    words.push_back(name.substr(0, end));
    if (end == name.npos) return words;
    name.remove_prefix(end + 1);
  }
}

bool IsNumber(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == word.npos;
}

bool IsName(const std::vector<std::string_view>& words) {
  return (words.size() == 4 || (words.size() == 6 && words[4] == "step" && IsNumber(words[5]))) &&
         words[0] == "seq" && IsNumber(words[1]) && words[2] == "to" && IsNumber(words[3]);
}

// Where the number is above 2^63 - 1, false and no number.
bool NumberOf(std::string_view word, int64_t* number) {
  *number = 0;
  for (const char digit : word) {
    if (__builtin_mul_overflow(*number, 10, number) ||
        __builtin_add_overflow(*number, digit - '0', number))
      return false;
  }
  return true;
}

// What the name is to be read as, told from its words.
Status StatusOf(const std::vector<std::string_view>& words, std::array<int64_t, 3>* numbers) {
  if (!IsName(words)) return Status::kMalformed;
  *numbers = {0, 0, 1};
  for (size_t i = 1; i < words.size(); i += 2)
    if (!NumberOf(words[i], &(*numbers)[i / 2])) return Status::kNumberOutOfRange;
  return (*numbers)[2] == 0 ? Status::kStepOutOfRange : Status::kOk;
}

}  // namespace

void Check(std::string_view input) {
  Series series{};
  const Status status = parse_series_name(input, &series);
  std::array<int64_t, 3> numbers{};
  Require(status == StatusOf(WordsOf(input), &numbers), "a name is what its words make it");
  if (status != Status::kOk) return;

  const auto [x, y, step] = numbers;
  const bool descends = series.last < series.first;
  Require(series.step == static_cast<uint64_t>(step), "the step is the name's");
  Require(series.first >= 0 && series.last >= 0, "no number is negative");
  Require(descends ? series.last == y : series.first == x, "a series keeps to its lower end");
  Require(descends ? series.first <= x : series.last <= (x > y ? x : y), "none goes beyond");
  Require((series.last - series.first) % step == 0, "the last number is reached");
  Require(count_of(series) >= 1, "none is empty");

  // A series is the one that its own ends make.
  const std::string again = "seq_" + std::to_string(series.first) + "_to_" +
                            std::to_string(series.last) + "_step_" + std::to_string(series.step);
  Series same{};
  Require(parse_series_name(again, &same) == Status::kOk, "what is written can be read");
  Require(same.first == series.first && same.last == series.last && same.step == series.step,
          "what is written is read as the same series");
}

}  // namespace snowid::core::test
