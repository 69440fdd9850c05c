// Tests of core/series.hpp: MariaDB's examples, the ends of bigint, and the reading of names.
#include "core/series.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

using Numbers = std::vector<int64_t>;

// The numbers of a series, at most a hundred of them.
Numbers NumbersOf(const Series& series) {
  const Wide distance = series.step;
  const Wide step = series.first <= series.last ? distance : -distance;
  Numbers numbers;
  for (Wide number = series.first; numbers.size() < 100; number += step) {
    if (step > 0 ? number > series.last : number < series.last) break;
    numbers.push_back(static_cast<int64_t>(number));
  }
  return numbers;
}

// What MakeSeries is to give: the ascending numbers, reversed for a descending series.
Numbers NaiveSeries(int64_t x, int64_t y, int64_t step) {
  const Wide low = std::min(x, y);
  const Wide high = std::max(x, y);
  if (step > high - low) return {x};
  Numbers numbers;
  for (Wide number = low; number <= high; number += step)
    numbers.push_back(static_cast<int64_t>(number));
  if (x > y) std::reverse(numbers.begin(), numbers.end());
  return numbers;
}

Series MadeOf(int64_t x, int64_t y, int64_t step) {
  Series series{};
  EXPECT_EQ(make_series(x, y, step, &series), Status::kOk);
  return series;
}

Status StatusOf(std::string_view name) {
  Series series{};
  return parse_series_name(name, &series);
}

Numbers Parsed(std::string_view name) {
  Series series{};
  if (parse_series_name(name, &series) != Status::kOk) return {};
  return NumbersOf(series);
}

TEST(SeriesNames, MariaDbsExamples) {
  EXPECT_EQ(Parsed("seq_1_to_5"), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(Parsed("seq_1_to_15_step_3"), (Numbers{1, 4, 7, 10, 13}));
  EXPECT_EQ(Parsed("seq_5_to_1_step_2"), (Numbers{5, 3, 1}));
  EXPECT_EQ(Parsed("seq_0_to_0"), (Numbers{0}));
  EXPECT_EQ(Parsed("seq_15_to_1_step_3"), (Numbers{13, 10, 7, 4, 1}));
  EXPECT_EQ(Parsed("seq_15_to_2_step_3"), (Numbers{14, 11, 8, 5, 2}));
  EXPECT_EQ(Parsed("seq_10_to_1_step_9"), (Numbers{10, 1}));
  EXPECT_EQ(Parsed("seq_10_to_1_step_10"), (Numbers{10}));
  EXPECT_EQ(Parsed("seq_1_to_10_step_10"), (Numbers{1}));
  EXPECT_EQ(Parsed("seq_5_to_1"), (Numbers{5, 4, 3, 2, 1}));
}

TEST(Series, MariaDbsExamplesWithNumbers) {
  static_assert([] {
    Series series{};
    return make_series(15, 1, 3, &series) == Status::kOk && series.first == 13 && series.last == 1;
  }());
  EXPECT_EQ(NumbersOf(MadeOf(1, 5, 1)), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(NumbersOf(MadeOf(1, 15, 3)), (Numbers{1, 4, 7, 10, 13}));
  EXPECT_EQ(NumbersOf(MadeOf(15, 1, 3)), (Numbers{13, 10, 7, 4, 1}));
  EXPECT_EQ(NumbersOf(MadeOf(10, 1, 10)), (Numbers{10}));
  EXPECT_EQ(NumbersOf(MadeOf(1, 10, 10)), (Numbers{1}));
  EXPECT_EQ(NumbersOf(MadeOf(-3, 3, 2)), (Numbers{-3, -1, 1, 3}));
  EXPECT_EQ(NumbersOf(MadeOf(2, -3, 2)), (Numbers{1, -1, -3}));
  EXPECT_EQ(NumbersOf(MadeOf(-7, -7, 1)), (Numbers{-7}));
}

TEST(Series, IsAsTheNaiveOneNearZeroAndAtBothEnds) {
  constexpr int64_t kReach = 11;
  for (const int64_t middle :
       {int64_t{0}, INT64_MIN + kReach, INT64_MAX - kReach, INT64_C(1) << 53}) {
    for (int64_t x = middle - kReach;; x++) {
      for (int64_t y = middle - kReach;; y++) {
        for (const int64_t step : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20, 21, 22, 23, 24}) {
          const Series series = MadeOf(x, y, step);
          const Numbers expected = NaiveSeries(x, y, step);
          if (NumbersOf(series) != expected || series.first != expected.front() ||
              series.last != expected.back() ||
              count_of(series) != static_cast<double>(expected.size()))
            FAIL() << x << " to " << y << " step " << step << ": " << series.first << " to "
                   << series.last;
        }
        if (y == middle + kReach) break;
      }
      if (x == middle + kReach) break;
    }
  }
}

TEST(Series, EndsAndCountsAreRightForAnyNumbers) {
  Random random(1);
  for (int i = 0; i < 300000; i++) {
    const auto number = [&random] {
      const int64_t value = static_cast<int64_t>(random.UpTo(INT64_MAX));
      return random.Below(2) == 0 ? value : -value - 1;
    };
    const int64_t x = number();
    const int64_t y = number();
    const int64_t step = 1 + static_cast<int64_t>(random.UpTo(INT64_MAX - 1));
    Series series{};
    const Status status = make_series(x, y, step, &series);
    const Wide difference = x < y ? Wide{y} - x : Wide{x} - y;
    const Wide steps = difference / step;
    const Wide width = steps * step;
    const Wide first = x <= y ? Wide{x} : steps == 0 ? Wide{x} : Wide{y} + width;
    const Wide last = x <= y ? Wide{x} + width : steps == 0 ? Wide{x} : Wide{y};
    const double count = static_cast<double>(steps + 1);
    if (status != Status::kOk || series.first != first || series.last != last ||
        series.step != static_cast<uint64_t>(step) ||
        std::abs(count_of(series) - count) > count * 1e-15)
      FAIL() << x << " to " << y << " step " << step << ": " << series.first << " to "
             << series.last;
  }
}

TEST(Series, WholeBigint) {
  const Series up = MadeOf(INT64_MIN, INT64_MAX, 1);
  EXPECT_EQ(up.first, INT64_MIN);
  EXPECT_EQ(up.last, INT64_MAX);
  EXPECT_EQ(count_of(up), 0x1p64);
  const Series down = MadeOf(INT64_MAX, INT64_MIN, 1);
  EXPECT_EQ(down.first, INT64_MAX);
  EXPECT_EQ(down.last, INT64_MIN);
  EXPECT_EQ(count_of(down), 0x1p64);
}

TEST(Series, HugeSteps) {
  EXPECT_EQ(NumbersOf(MadeOf(INT64_MIN, INT64_MAX, INT64_MAX)),
            (Numbers{INT64_MIN, -1, INT64_MAX - 1}));
  EXPECT_EQ(NumbersOf(MadeOf(INT64_MAX, INT64_MIN, INT64_MAX)),
            (Numbers{INT64_MAX - 1, -1, INT64_MIN}));
  EXPECT_EQ(NumbersOf(MadeOf(0, INT64_MAX, INT64_MAX)), (Numbers{0, INT64_MAX}));
  EXPECT_EQ(NumbersOf(MadeOf(INT64_MAX, 0, INT64_MAX)), (Numbers{INT64_MAX, 0}));
  EXPECT_EQ(NumbersOf(MadeOf(1, INT64_MAX, INT64_MAX)), (Numbers{1}));
  EXPECT_EQ(NumbersOf(MadeOf(INT64_MAX, 1, INT64_MAX)), (Numbers{INT64_MAX}));
  EXPECT_EQ(NumbersOf(MadeOf(INT64_MIN, INT64_MIN, INT64_MAX)), (Numbers{INT64_MIN}));
  EXPECT_EQ(count_of(MadeOf(INT64_MIN, INT64_MAX, INT64_MAX)), 3);
  EXPECT_EQ(count_of(MadeOf(0, 1000000, 3)), 333334);
  EXPECT_EQ(count_of(MadeOf(1000000, 0, 3)), 333334);
}

TEST(Series, RefusesStepsThatAreNotPositive) {
  Series series{};
  for (const int64_t step : {int64_t{0}, int64_t{-1}, INT64_MIN}) {
    EXPECT_EQ(make_series(1, 10, step, &series), Status::kStepOutOfRange);
    EXPECT_EQ(make_series(10, 1, step, &series), Status::kStepOutOfRange);
    EXPECT_EQ(make_series(1, 1, step, &series), Status::kStepOutOfRange);
  }
}

TEST(SeriesNames, UpToTheGreatestBigint) {
  EXPECT_EQ(Parsed("seq_9223372036854775805_to_9223372036854775807"),
            (Numbers{INT64_MAX - 2, INT64_MAX - 1, INT64_MAX}));
  EXPECT_EQ(Parsed("seq_9223372036854775807_to_9223372036854775804_step_2"),
            (Numbers{INT64_MAX - 1, INT64_MAX - 3}));
  EXPECT_EQ(Parsed("seq_0_to_9223372036854775807_step_9223372036854775807"),
            (Numbers{0, INT64_MAX}));
  Series all{};
  ASSERT_EQ(parse_series_name("seq_0_to_9223372036854775807", &all), Status::kOk);
  EXPECT_EQ(all.first, 0);
  EXPECT_EQ(all.last, INT64_MAX);
  EXPECT_EQ(count_of(all), 0x1p63);
}

TEST(SeriesNames, RefusesNumbersBeyondBigint) {
  for (const std::string number :
       {"9223372036854775808", "18446744073709551615", "18446744073709551616",
        "18446744073709551617", "99999999999999999999",
        "340282366920938463463374607431768211457"}) {
    EXPECT_EQ(StatusOf("seq_0_to_" + number), Status::kNumberOutOfRange) << number;
    EXPECT_EQ(StatusOf("seq_" + number + "_to_0"), Status::kNumberOutOfRange) << number;
    EXPECT_EQ(StatusOf("seq_" + number + "_to_" + number), Status::kNumberOutOfRange) << number;
    EXPECT_EQ(StatusOf("seq_0_to_1_step_" + number), Status::kNumberOutOfRange) << number;
    EXPECT_EQ(StatusOf("seq_" + number + "_to_1_step_0"), Status::kNumberOutOfRange) << number;
    // What is wrong with the form is said first.
    EXPECT_EQ(StatusOf("seq_0_to_" + number + "x"), Status::kMalformed) << number;
    EXPECT_EQ(StatusOf("seq_" + number + "_to_"), Status::kMalformed) << number;
    EXPECT_EQ(StatusOf("seq_0_to_1_step_" + number + "_"), Status::kMalformed) << number;
  }
}

TEST(SeriesNames, StepZero) {
  EXPECT_EQ(StatusOf("seq_1_to_5_step_0"), Status::kStepOutOfRange);
  EXPECT_EQ(StatusOf("seq_5_to_1_step_000"), Status::kStepOutOfRange);
}

TEST(SeriesNames, LeadingZerosAreFine) {
  EXPECT_EQ(Parsed("seq_01_to_005"), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(Parsed("seq_00_to_08_step_04"), (Numbers{0, 4, 8}));
  EXPECT_EQ(Parsed("seq_" + std::string(100, '0') + "7_to_" + std::string(100, '0') + "8"),
            (Numbers{7, 8}));
  EXPECT_EQ(Parsed("seq_0009223372036854775807_to_9223372036854775807"), (Numbers{INT64_MAX}));
}

TEST(SeriesNames, RefusesEveryOtherForm) {
  constexpr std::string_view kNames[] = {"seq_-1_to_5",
                                         "seq_1_to_-5",
                                         "seq_5_to_1_step_-1",
                                         "seq_-0_to_5",  // negative
                                         "seq_1.5_to_5",
                                         "seq_1_to_5.0",
                                         "seq_1_to_5_step_0.5",
                                         "seq_1e1_to_20",  // decimals
                                         "seq_1_to_+5",
                                         "seq_+1_to_5",
                                         "seq_1_to_5_step_+2",  // signs
                                         "seq_1_to_5x",
                                         "seq_1_to_5_",
                                         "seq_1_to_5 ",
                                         "seq_1_to_5\n",
                                         "seq_1_to_5_step_2_",
                                         "seq_1_to_5_step_2 ",
                                         "seq_1_to_5_step_2_step_3",
                                         "seq_1_to_5_step_2x",  // trailing
                                         "SEQ_1_to_5",
                                         "Seq_1_to_5",
                                         "seq_1_TO_5",
                                         "seq_1_to_5_STEP_2",
                                         "seq_1_to_5_Step_2",  // case
                                         "seq_1_to_5_step",
                                         "seq_1_to_5_step_",
                                         "seq_1_to_5_step2",
                                         "seq_1_to_5step_2",
                                         "seq_1_to_5_st",
                                         "seq_1_to_5_step__2",  // no number after _step
                                         "",
                                         "seq",
                                         "seq_",
                                         "seq_1",
                                         "seq_1_",
                                         "seq_1_to",
                                         "seq_1_to_",
                                         "seq__to_5",
                                         "seq_to_5",
                                         "seq1_to_5",
                                         "seq_1to_5",
                                         "seq_1_to5",
                                         "seq__1_to_5",
                                         "seq_1__to_5",
                                         "seq_1_to__5",
                                         "seq_1_2_to_5",
                                         " seq_1_to_5",
                                         "seq _1_to_5",
                                         "seq_ 1_to_5",
                                         "seq_1 _to_5",
                                         "seq_1_to_ 5",
                                         "seq_0x1_to_5",
                                         "seq_1_to_0x5",
                                         "seq_a_to_b",
                                         "seq_1,000_to_5",
                                         "seq_1-to-5",
                                         "seq_/_to_:",
                                         "seq_\xd9\xa1_to_5",
                                         "seq_\xc2\xb2_to_5",
                                         "xseq_1_to_5",
                                         "_seq_1_to_5",
                                         "seq_1_step_2_to_5",
                                         "seq_1_to_5_to_6",
                                         "1_to_5",
                                         "public.seq_1_to_5",
                                         "\"seq_1_to_5\""};
  for (const std::string_view name : kNames)
    EXPECT_EQ(StatusOf(name), Status::kMalformed) << "\"" << name << "\"";
  using std::string_view_literals::operator""sv;
  for (const std::string_view name : {"seq_1_to_5\0"sv, "seq_1_to_5_step_2\0"sv, "seq_1\0_to_5"sv,
                                      "\0seq_1_to_5"sv, "seq_1_to_\0005"sv})
    EXPECT_EQ(StatusOf(name), Status::kMalformed) << name.size();
}

TEST(SeriesNames, ReadsNoFurtherThanTheNameGoes) {
  constexpr std::string_view kLonger = "seq_1_to_55_step_27";
  EXPECT_EQ(Parsed(kLonger.substr(0, 10)), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(Parsed(kLonger.substr(0, 18)).size(), 28u);
  EXPECT_EQ(Parsed(kLonger), (Numbers{1, 28, 55}));
  for (size_t length = 0; length < kLonger.size(); length++) {
    const bool whole = length == 10 || length == 11 || length == 18;
    EXPECT_EQ(StatusOf(kLonger.substr(0, length)), whole ? Status::kOk : Status::kMalformed)
        << length;
  }
}

// Whether a name is a series', found by taking it apart at each "_".
bool IsName(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char letter : name) {
    if (letter == '_')
      words.emplace_back();
    else
      words.back() += letter;
  }
  if (words.size() != 4 && words.size() != 6) return false;
  if (words[0] != "seq" || words[2] != "to") return false;
  if (words.size() == 6 && (words[4] != "step" || words[5].find_first_not_of('0') == words[5].npos))
    return false;
  for (size_t i = 1; i < words.size(); i += 2)
    if (words[i].empty() || words[i].find_first_not_of("0123456789") != words[i].npos) return false;
  return true;
}

TEST(SeriesNames, AnyOtherLetterAnywhereIsMalformed) {
  constexpr std::string_view kLetters = "0123456789_seqtopSTx+-. ";
  Random random(2);
  int accepted = 0;
  for (int i = 0; i < 20000; i++) {
    std::string name = random.Below(2) == 0 ? "seq_12_to_345" : "seq_12_to_345_step_67";
    for (uint64_t edits = random.Below(3); edits > 0; edits--) {
      const size_t place = random.Below(name.size());
      const char letter = kLetters[random.Below(kLetters.size())];
      switch (random.Below(3)) {
        case 0:
          name[place] = letter;
          break;
        case 1:
          name.insert(place, 1, letter);
          break;
        default:
          name.erase(place, 1);
      }
    }
    const bool expected = IsName(name);
    accepted += expected;
    if ((StatusOf(name) == Status::kOk) != expected) FAIL() << "\"" << name << "\"";
  }
  EXPECT_GT(accepted, 5000);
  EXPECT_LT(accepted, 15000);
}

}  // namespace
}  // namespace snowid::core::test
