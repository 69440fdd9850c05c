// Periods of the calendar, as people speak of them: months that begin on the 1st, weeks that begin
// on Monday, days that begin at midnight; and their names. All of it in UTC, so that it is the same
// for everybody. Pure functions of their arguments; nothing here is shared.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/layout_text.hpp"
#include "core/types.hpp"

namespace snowid::core {

// How long periods are. `count` is as MakeStep() says.
struct Step {
  enum Unit : uint8_t { kMonths, kDays, kHours } unit;
  int64_t count;
};

// From `start` to before `end`.
struct Period {
  UnixMicros start;
  UnixMicros end;
};

namespace calendar {

inline constexpr int64_t kHourUs = 3'600'000'000;
inline constexpr int64_t kDayUs = 24 * kHourUs;

// Periods of several days are counted from a Monday, 2000-01-03, so that weeks begin on one. In
// days since 1970-01-01.
inline constexpr int64_t kFirstMonday = 10'959;

// Rounds down, where division rounds towards zero. Range: divisor > 0.
constexpr int64_t FloorDivide(int64_t number, int64_t divisor) {
  return number / divisor - (number % divisor < 0 ? 1 : 0);
}

struct Date {
  int64_t year;
  int64_t month;  // 1 to 12
  int64_t day;    // 1 to 31
};

// The date of a day, in days since 1970-01-01. std::chrono's years end at 32,767, and timestamps
// go on. Source: Hinnant, "chrono-Compatible Low-Level Date Algorithms" (2013).
constexpr Date DateOf(int64_t days) {
  constexpr int64_t kDaysOfEra = 146'097;  // 400 years
  days += 719'468;                         // from 0000-03-01 on: the leap day ends a year
  const int64_t era = FloorDivide(days, kDaysOfEra);
  const int64_t day_of_era = days - era * kDaysOfEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month = (5 * day_of_year + 2) / 153;  // 0 is March
  const bool is_next_year = month >= 10;
  return {era * 400 + year_of_era + (is_next_year ? 1 : 0), month + (is_next_year ? -9 : 3),
          day_of_year - (153 * month + 2) / 5 + 1};
}

// The other way, for the first day of a month.
constexpr int64_t DaysOf(int64_t year, int64_t month) {
  if (month <= 2) year--;
  const int64_t era = FloorDivide(year, 400);
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}

// When a day begins, or the moment nearest to that that UnixMicros can tell.
constexpr UnixMicros MidnightOf(int64_t days) {
  if (days > INT64_MAX / kDayUs) return {INT64_MAX};
  if (days < INT64_MIN / kDayUs) return {INT64_MIN};
  return {days * kDayUs};
}

// When a month begins, in months since the year 0.
constexpr UnixMicros StartOfMonth(int64_t month) {
  const int64_t year = FloorDivide(month, 12);
  return MidnightOf(DaysOf(year, month - year * 12 + 1));
}

}  // namespace calendar

// The step of an interval. It is one of: 1, 2, 3, 4 or 6 months, or whole years; any number of
// days; 1, 2, 3, 4, 6, 8, 12 or 24 hours. Fails with kStepOutOfRange for others, and for mixtures.
constexpr Status MakeStep(int64_t months, int64_t days, int64_t us, Step* step) {
  using namespace calendar;
  if ((months != 0) + (days != 0) + (us != 0) != 1 || months < 0 || days < 0 || us < 0)
    return Status::kStepOutOfRange;
  if (months > 0) {
    *step = {Step::kMonths, months};
    return 12 % months == 0 || months % 12 == 0 ? Status::kOk : Status::kStepOutOfRange;
  }
  if (days > 0) {
    *step = {Step::kDays, days};
    return Status::kOk;
  }
  *step = {Step::kHours, us / kHourUs};
  return us % kHourUs == 0 && kDayUs % us == 0 ? Status::kOk : Status::kStepOutOfRange;
}

// How long a period is at least, in microseconds; the greatest int64_t where that is less.
constexpr int64_t LeastLength(const Step& step) {
  if (step.unit == Step::kHours) return step.count * calendar::kHourUs;
  return calendar::MidnightOf(step.unit == Step::kDays ? step.count : step.count * 28).value;
}

// The period that holds a moment. Its ends are as near to the truth as UnixMicros can tell. Range:
// moments from the year 1 on, as those of layouts are.
constexpr Period PeriodAt(const Step& step, UnixMicros moment) {
  using namespace calendar;
  if (step.unit == Step::kHours) {
    const int64_t length = step.count * kHourUs;
    const int64_t start = FloorDivide(moment.value, length) * length;
    return {{start}, {start > INT64_MAX - length ? INT64_MAX : start + length}};
  }
  const int64_t today = FloorDivide(moment.value, kDayUs);
  if (step.unit == Step::kDays) {
    const int64_t day = FloorDivide(today - kFirstMonday, step.count) * step.count + kFirstMonday;
    return {MidnightOf(day), MidnightOf(day + step.count)};
  }
  const Date date = DateOf(today);
  const int64_t month = FloorDivide(date.year * 12 + date.month - 1, step.count) * step.count;
  return {StartOfMonth(month), StartOfMonth(month + step.count)};
}

// The size of a buffer for any name of a period.
inline constexpr size_t kPeriodNameSize = 32;

namespace calendar {

inline void PutNumber(int64_t number, int digits, layout_text::Writer* out) {
  if (number < 0) out->Put("-");
  out->PutNumber(static_cast<uint64_t>(number < 0 ? -number : number), digits);
}

}  // namespace calendar

// Writes the name of what begins at a moment, without a terminator, to a buffer of kPeriodNameSize:
// 2026 for years, 2026_11, 2026_11_22 or 2026_11_22_13. What does not begin with its period is
// named by its date at least, and to the second where it has to be. Returns the length. Range: as
// of PeriodAt().
inline size_t FormatPeriod(const Step& step, UnixMicros moment, char* text) {
  using namespace calendar;
  layout_text::Writer out{text};
  const bool is_whole = PeriodAt(step, moment).start == moment;
  const int64_t days = FloorDivide(moment.value, kDayUs);
  const int64_t second = (moment.value - days * kDayUs) / 1'000'000;
  const Date date = DateOf(days);
  PutNumber(date.year, 4, &out);
  if (is_whole && step.unit == Step::kMonths && step.count % 12 == 0)
    return static_cast<size_t>(out.at - text);
  out.Put("_");
  PutNumber(date.month, 2, &out);
  if (is_whole && step.unit == Step::kMonths) return static_cast<size_t>(out.at - text);
  out.Put("_");
  PutNumber(date.day, 2, &out);
  if (second != 0 || (is_whole && step.unit == Step::kHours)) {
    out.Put("_");
    PutNumber(second / 3600, 2, &out);
  }
  if (second % 3600 != 0) {
    PutNumber(second / 60 % 60, 2, &out);
    PutNumber(second % 60, 2, &out);
  }
  return static_cast<size_t>(out.at - text);
}

}  // namespace snowid::core
