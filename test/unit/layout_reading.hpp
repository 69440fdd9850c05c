// What a text says of a layout, read word by word in another way than core/layout_text.hpp does:
// for tests that try any text. Pure functions of their arguments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/layout_text.hpp"

namespace snowid::core::test {

// Whether anything in a text is not of its form, whether any number in it is one that no layout
// has, and what it says where neither is so.
struct LayoutReading {
  bool is_malformed = false;
  bool is_out_of_range = false;
  LayoutSpec spec{};

  // Which of two faults is named is left open.
  bool Allows(LayoutFault fault) const {
    if (fault == LayoutFault::kNone) return !is_malformed && !is_out_of_range;
    return IsOfRange(fault) ? is_out_of_range : is_malformed;
  }

  // Whether the form is right, and the number is one that no layout has.
  static constexpr bool IsOfRange(LayoutFault fault) {
    return fault == LayoutFault::kTimeWidth || fault == LayoutFault::kWidth ||
           fault == LayoutFault::kUnitRange || fault == LayoutFault::kEpochRange ||
           fault == LayoutFault::kSum;
  }
};

namespace layout_reading {

inline constexpr std::string_view kDigits = "0123456789";

inline std::vector<std::string_view> WordsOf(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\n\v\f\r";
  std::vector<std::string_view> words;
  while (true) {
    const size_t start = text.find_first_not_of(kSpaces);
    if (start == text.npos) return words;
    text.remove_prefix(start);
    const size_t length = std::min(text.find_first_of(kSpaces), text.size());
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

// The number that the digits make, but no greater than any layout could have.
inline uint64_t NumberOf(std::string_view digits) {
  constexpr uint64_t kTooGreat = 1'000'000'000'000'000;
  uint64_t number = 0;
  for (const char digit : digits)
    number = std::min(number * 10 + static_cast<uint64_t>(digit - '0'), kTooGreat);
  return number;
}

// Digits from the front of the text on.
inline std::string_view DigitsOf(std::string_view text) {
  return text.substr(0, text.find_first_not_of(kDigits));
}

inline uint64_t ReadWidth(std::string_view text, LayoutReading* reading) {
  if (text.empty() || DigitsOf(text) != text) reading->is_malformed = true;
  const uint64_t width = NumberOf(DigitsOf(text));
  if (width > 63) reading->is_out_of_range = true;
  return std::min<uint64_t>(width, 64);
}

inline uint64_t ReadUnit(std::string_view text, LayoutReading* reading) {
  const std::string_view digits = DigitsOf(text);
  const std::string_view name = text.substr(digits.size());
  const uint64_t us = name == "us"    ? 1
                      : name == "ms"  ? 1000
                      : name == "s"   ? 1000000
                      : name == "min" ? 60000000
                      : name == "h"   ? 3600000000
                      : name == "d"   ? 86400000000
                                      : 0;
  if (digits.empty() || us == 0) reading->is_malformed = true;
  const uint64_t number = NumberOf(digits);
  if (number == 0 || number > 86400000000 / std::max<uint64_t>(us, 1)) {
    reading->is_out_of_range = true;
    return 0;
  }
  return number * us;
}

inline uint64_t DaysIn(uint64_t year, uint64_t month) {
  if (month == 2) return year % 400 == 0 || (year % 4 == 0 && year % 100 != 0) ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

inline int64_t ReadEpoch(std::string_view text, LayoutReading* reading) {
  const std::string_view ms = text.substr(text.starts_with("-") ? 1 : 0);
  if (!ms.empty() && DigitsOf(ms) == ms) {
    const int64_t epoch_us =
        static_cast<int64_t>(NumberOf(ms)) * (ms.size() < text.size() ? -1000 : 1000);
    if (epoch_us < -62135596800000000 || epoch_us > 253402300799999999)
      reading->is_out_of_range = true;
    return epoch_us;
  }
  constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:dd";
  constexpr int64_t kDaysTo1970 = 719162;  // from 0001-01-01
  for (size_t i = 0; i < kForm.size(); i++) {
    if (i < text.size() &&
        (kForm[i] == 'd' ? kDigits.find(text[i]) != kDigits.npos : text[i] == kForm[i]))
      continue;
    reading->is_malformed = true;
    return 0;
  }
  std::string_view rest = text.substr(kForm.size());
  uint64_t fraction_us = 0;
  if (rest.substr(0, 1) == ".") {
    const std::string_view digits = DigitsOf(rest.substr(1));
    if (digits.empty() || digits.size() > 6) reading->is_malformed = true;
    fraction_us = NumberOf(digits.substr(0, 6));
    for (size_t i = digits.size(); i < 6; i++) fraction_us *= 10;
    rest.remove_prefix(1 + digits.size());
  }
  if (rest != "Z") reading->is_malformed = true;

  const uint64_t year = NumberOf(text.substr(0, 4));
  const uint64_t month = NumberOf(text.substr(5, 2));
  const uint64_t day = NumberOf(text.substr(8, 2));
  const uint64_t hour = NumberOf(text.substr(11, 2));
  const uint64_t minute = NumberOf(text.substr(14, 2));
  const uint64_t second = NumberOf(text.substr(17, 2));
  if (year < 1 || month < 1 || month > 12 || day < 1 || day > DaysIn(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    reading->is_out_of_range = true;
    return 0;
  }
  uint64_t days = (year - 1) * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400 + day - 1;
  for (uint64_t before = 1; before < month; before++) days += DaysIn(year, before);
  const int64_t seconds = (static_cast<int64_t>(days) - kDaysTo1970) * 86400 +
                          static_cast<int64_t>((hour * 60 + minute) * 60 + second);
  return seconds * 1000000 + static_cast<int64_t>(fraction_us);
}

}  // namespace layout_reading

inline LayoutReading ReadLayout(std::string_view text) {
  namespace reading_of = layout_reading;
  LayoutReading reading;
  const std::vector<std::string_view> words = reading_of::WordsOf(text);
  if (words.size() == 1)
    for (const NamedLayout& named : kNamedLayouts)
      if (words[0] == named.name) {
        reading.spec = named.spec;
        return reading;
      }

  uint64_t widths[3] = {0, 0, 0};  // of time, shard and sequence
  size_t places[3] = {0, 0, 0};
  int seen[5] = {0, 0, 0, 0, 0};
  uint64_t unit_us = 0;
  for (size_t i = 0; i < words.size(); i++) {
    const size_t colon = words[i].find(':');
    const std::string_view name = words[i].substr(0, colon);
    const std::string_view value =
        colon == words[i].npos ? std::string_view{} : words[i].substr(colon + 1);
    const size_t field = name == "time"    ? 0
                         : name == "shard" ? 1
                         : name == "seq"   ? 2
                         : name == "unit"  ? 3
                         : name == "epoch" ? 4
                                           : 5;
    if (field == 5 || colon == words[i].npos || seen[field]++ > 0) {
      reading.is_malformed = true;
    } else if (field == 3) {
      unit_us = reading_of::ReadUnit(value, &reading);
    } else if (field == 4) {
      reading.spec.epoch_us = reading_of::ReadEpoch(value, &reading);
    } else {
      widths[field] = reading_of::ReadWidth(value, &reading);
      places[field] = i;
    }
  }
  for (const int times : seen)
    if (times != 1) reading.is_malformed = true;
  if (widths[0] == 0 || widths[0] + widths[1] + widths[2] > 64) reading.is_out_of_range = true;
  if (reading.is_malformed || reading.is_out_of_range) return reading;

  const auto [time, shard, seq] = places;
  const Order order = time < shard && shard < seq  ? Order::kTimeShardSeq
                      : time < seq && seq < shard  ? Order::kTimeSeqShard
                      : shard < time && time < seq ? Order::kShardTimeSeq
                      : shard < seq && seq < time  ? Order::kShardSeqTime
                      : seq < time && time < shard ? Order::kSeqTimeShard
                                                   : Order::kSeqShardTime;
  reading.spec =
      canonical({reading.spec.epoch_us, unit_us, widths[0], widths[1], widths[2], order});
  return reading;
}

// parse_layout() of a text in memory of just its size, so that the address sanitizer sees a read
// past it.
inline LayoutFault Parse(std::string_view text, LayoutSpec* spec) {
  const std::vector<char> exact(text.begin(), text.end());
  return parse_layout({exact.data(), exact.size()}, spec).fault;
}

}  // namespace snowid::core::test
