// Tests of core/calendar.hpp: periods as people know them, in UTC, and what they are called.
#include "core/calendar.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "random.hpp"

namespace snowid::core {
namespace {

using test::Random;

constexpr int64_t kHour = calendar::kHourUs;
constexpr int64_t kDay = calendar::kDayUs;

UnixMicros At(int year, unsigned month, unsigned day, int hour = 0, int minute = 0,
              int second = 0) {
  const std::chrono::sys_days days =
      std::chrono::year{year} / std::chrono::month{month} / std::chrono::day{day};
  return {days.time_since_epoch().count() * kDay + hour * kHour + minute * 60'000'000LL +
          second * 1'000'000LL};
}

Step StepOf(int64_t months, int64_t days = 0, int64_t us = 0) {
  Step step{};
  EXPECT_EQ(MakeStep(months, days, us, &step), Status::kOk);
  return step;
}

void ExpectPeriod(const Step& step, UnixMicros moment, UnixMicros start, UnixMicros end) {
  const Period period = PeriodAt(step, moment);
  EXPECT_EQ(period.start, start);
  EXPECT_EQ(period.end, end);
}

std::string NameOf(const Step& step, UnixMicros moment) {
  char text[kPeriodNameSize];
  return {text, FormatPeriod(step, moment, text)};
}

TEST(CalendarTest, StepsAreThoseThatDivideAYearOrADay) {
  Step step{};
  for (int64_t months = 1; months <= 48; months++) {
    const bool fits = 12 % months == 0 || months % 12 == 0;
    EXPECT_EQ(MakeStep(months, 0, 0, &step), fits ? Status::kOk : Status::kStepOutOfRange)
        << months;
  }
  for (int64_t hours = 1; hours <= 48; hours++) {
    const bool fits = 24 % hours == 0;
    EXPECT_EQ(MakeStep(0, 0, hours * kHour, &step), fits ? Status::kOk : Status::kStepOutOfRange)
        << hours;
  }
  for (int64_t days = 1; days <= 400; days++) EXPECT_EQ(MakeStep(0, days, 0, &step), Status::kOk);
}

TEST(CalendarTest, RefusesWhatIsNoStep) {
  Step step{};
  const int64_t bad[][3] = {{0, 0, 0},
                            {-1, 0, 0},
                            {0, -1, 0},
                            {0, 0, -kHour},
                            {1, 1, 0},
                            {1, 0, kHour},
                            {0, 1, kHour},
                            {1, -1, 0},
                            {0, 0, kHour + 1},
                            {0, 0, 1},
                            {0, 0, kHour / 2},
                            {-12, 0, 0},
                            // As PostgreSQL 17 writes infinite intervals.
                            {INT32_MAX, INT32_MAX, INT64_MAX},
                            {INT32_MIN, INT32_MIN, INT64_MIN}};
  for (const auto& [months, days, us] : bad)
    EXPECT_EQ(MakeStep(months, days, us, &step), Status::kStepOutOfRange)
        << months << " " << days << " " << us;
}

TEST(CalendarTest, MonthsBeginOnTheFirst) {
  ExpectPeriod(StepOf(1), At(2026, 11, 22, 13, 5), At(2026, 11, 1), At(2026, 12, 1));
  ExpectPeriod(StepOf(1), At(2026, 12, 31, 23, 59, 59), At(2026, 12, 1), At(2027, 1, 1));
  ExpectPeriod(StepOf(1), At(2024, 2, 29), At(2024, 2, 1), At(2024, 3, 1));
  ExpectPeriod(StepOf(1), At(1969, 12, 31), At(1969, 12, 1), At(1970, 1, 1));
}

TEST(CalendarTest, QuartersAndYearsBeginInJanuary) {
  ExpectPeriod(StepOf(3), At(2026, 11, 22), At(2026, 10, 1), At(2027, 1, 1));
  ExpectPeriod(StepOf(6), At(2026, 5, 5), At(2026, 1, 1), At(2026, 7, 1));
  ExpectPeriod(StepOf(12), At(2026, 11, 22), At(2026, 1, 1), At(2027, 1, 1));
  ExpectPeriod(StepOf(120), At(2026, 11, 22), At(2020, 1, 1), At(2030, 1, 1));
}

TEST(CalendarTest, WeeksBeginOnMonday) {
  ExpectPeriod(StepOf(0, 7), At(2026, 11, 22, 23), At(2026, 11, 16), At(2026, 11, 23));
  ExpectPeriod(StepOf(0, 7), At(2026, 11, 23), At(2026, 11, 23), At(2026, 11, 30));
  ExpectPeriod(StepOf(0, 7), At(1999, 12, 31), At(1999, 12, 27), At(2000, 1, 3));
  ExpectPeriod(StepOf(0, 14), At(2000, 1, 16), At(2000, 1, 3), At(2000, 1, 17));
}

TEST(CalendarTest, DaysBeginAtMidnightAndHoursOnTheHour) {
  ExpectPeriod(StepOf(0, 1), At(2026, 11, 22, 23, 59, 59), At(2026, 11, 22), At(2026, 11, 23));
  ExpectPeriod(StepOf(0, 0, kHour), At(2026, 11, 22, 23, 59), At(2026, 11, 22, 23),
               At(2026, 11, 23));
  ExpectPeriod(StepOf(0, 0, 6 * kHour), At(2026, 11, 22, 13), At(2026, 11, 22, 12),
               At(2026, 11, 22, 18));
  ExpectPeriod(StepOf(0, 0, 24 * kHour), At(2026, 11, 22, 13), At(2026, 11, 22), At(2026, 11, 23));
}

TEST(CalendarTest, DatesAreThoseOfTheLibrary) {
  for (int64_t days = -800'000; days <= 3'000'000; days += 13) {
    const std::chrono::year_month_day known{std::chrono::sys_days{std::chrono::days{days}}};
    const calendar::Date date = calendar::DateOf(days);
    ASSERT_EQ(date.year, static_cast<int>(known.year())) << days;
    ASSERT_EQ(date.month, static_cast<unsigned>(known.month())) << days;
    ASSERT_EQ(date.day, static_cast<unsigned>(known.day())) << days;
    ASSERT_EQ(calendar::DaysOf(date.year, date.month) + date.day - 1, days);
  }
}

// Whatever the step and the moment, the period holds it, and the next begins where it ends.
TEST(CalendarTest, PeriodsFollowOneAnother) {
  Random random{20261122};
  const Step steps[] = {
      StepOf(1),    StepOf(2),    StepOf(4),     StepOf(12),          StepOf(1200),
      StepOf(0, 1), StepOf(0, 7), StepOf(0, 10), StepOf(0, 0, kHour), StepOf(0, 0, 8 * kHour)};
  for (int n = 0; n < 20'000; n++) {
    const Step& step = steps[random.Below(std::size(steps))];
    const UnixMicros moment{random.In(-62'135'596'800'000'000, 9'000'000'000'000'000'000)};
    const Period period = PeriodAt(step, moment);
    ASSERT_LE(period.start, moment);
    ASSERT_GT(period.end, moment);
    ASSERT_GE(period.end.value - period.start.value, LeastLength(step));
    ASSERT_EQ(PeriodAt(step, period.end).start, period.end);
    ASSERT_EQ(PeriodAt(step, {period.end.value - 1}).start, period.start);
  }
}

TEST(CalendarTest, PeriodsBeyondWhatCanBeToldEndThere) {
  for (const Step& step : {StepOf(12), StepOf(2'147'483'640), StepOf(0, 1), StepOf(0, INT32_MAX),
                           StepOf(0, 0, kHour)}) {
    const Period last = PeriodAt(step, {INT64_MAX});
    EXPECT_LE(last.start.value, INT64_MAX - 1);
    EXPECT_EQ(last.end.value, INT64_MAX);
    EXPECT_GT(LeastLength(step), 0);
  }
}

TEST(CalendarTest, NamesAreDates) {
  EXPECT_EQ(NameOf(StepOf(12), At(2026, 1, 1)), "2026");
  EXPECT_EQ(NameOf(StepOf(120), At(2020, 1, 1)), "2020");
  EXPECT_EQ(NameOf(StepOf(1), At(2026, 11, 1)), "2026_11");
  EXPECT_EQ(NameOf(StepOf(3), At(2026, 4, 1)), "2026_04");
  EXPECT_EQ(NameOf(StepOf(0, 7), At(2026, 11, 16)), "2026_11_16");
  EXPECT_EQ(NameOf(StepOf(0, 1), At(2026, 1, 2)), "2026_01_02");
  EXPECT_EQ(NameOf(StepOf(0, 0, kHour), At(2026, 1, 2, 3)), "2026_01_02_03");
  EXPECT_EQ(NameOf(StepOf(0, 0, kHour), At(2026, 1, 2, 0)), "2026_01_02_00");
}

TEST(CalendarTest, WhatBeginsWithinAPeriodIsNamedByItsOwnBeginning) {
  EXPECT_EQ(NameOf(StepOf(12), At(2026, 2, 1)), "2026_02_01");
  EXPECT_EQ(NameOf(StepOf(1), At(2026, 11, 8)), "2026_11_08");
  EXPECT_EQ(NameOf(StepOf(0, 1), At(2026, 11, 8, 13)), "2026_11_08_13");
  EXPECT_EQ(NameOf(StepOf(1), At(2011, 8, 24, 21, 7, 1)), "2011_08_24_210701");
  EXPECT_EQ(NameOf(StepOf(0, 0, kHour), At(2011, 8, 24, 0, 0, 1)), "2011_08_24_000001");
}

TEST(CalendarTest, TheLongestNameFits) {
  EXPECT_LT(NameOf(StepOf(1), {INT64_MAX}).size(), kPeriodNameSize);
  EXPECT_LT(NameOf(StepOf(0, 0, kHour), kFirstEpoch).size(), kPeriodNameSize);
}

}  // namespace
}  // namespace snowid::core
