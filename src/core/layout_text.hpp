// Layouts as text: names, and specifications such as `time:41 shard:13 seq:10 unit:1ms
// epoch:2011-08-24T21:07:01.721Z`. Pure functions.
//
// Members of string_view that may throw, such as substr and starts_with, are not used: they need
// the C++ library at run time, which PostgreSQL may not have loaded.
#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "core/layout.hpp"
#include "core/types.hpp"

namespace snowid::core {

struct NamedLayout {
  std::string_view name;
  LayoutSpec spec;
};

// Databases store layouts by value and dumps by name: a name never changes its meaning. If two
// names mean the same, the first one is used for both.
//
// js53 stays within JavaScript's Number.MAX_SAFE_INTEGER, 2^53 - 1. Its 40 bits of milliseconds
// last until November 2060; 8 bits of sequence are 256,000 IDs a second and shard.
//
// Only the time in the IDs of Mastodon, LinkedIn, and TikTok is known: the rest is a sequence,
// without a shard. Bluesky's IDs have a clock identifier as the shard, and no sequence.
inline constexpr NamedLayout kNamedLayouts[] = {
    {"instagram", kInstagram.spec},
    {"twitter", {1288834974657000, 1000, 41, 10, 12, kTimeShardSeq}},
    {"discord", {1420070400000000, 1000, 41, 10, 12, kTimeShardSeq}},
    {"leaf", {1288834974657000, 1000, 41, 10, 12, kTimeShardSeq}},
    {"sonyflake", {1409529600000000, 10000, 39, 16, 8, kTimeSeqShard}},
    {"sonyflake2", {1735689600000000, 10000, 39, 16, 8, kTimeSeqShard}},
    {"baidu", {1463673600000000, 1000000, 28, 22, 13, kTimeShardSeq}},
    {"pgedge", {1672531200000000, 1000, 41, 10, 12, kTimeShardSeq}},
    {"taobao", {1361753741828000, 1000, 49, 4, 10, kTimeShardSeq}},
    {"seata", {1588435200000000, 1000, 41, 10, 12, kShardTimeSeq}},
    {"yitter", {1582136402000000, 1000, 51, 6, 6, kTimeShardSeq}},
    {"mastodon", {0, 1000, 48, 0, 16, kTimeShardSeq}},
    {"linkedin", {0, 1000, 41, 0, 22, kTimeShardSeq}},
    {"tiktok", {0, 1000000, 32, 0, 32, kTimeShardSeq}},
    {"bluesky", {0, 1, 53, 10, 0, kTimeShardSeq}},
    {"js53", {1767225600000000, 1000, 40, 5, 8, kTimeShardSeq}},
};

// Empty if the layout has no name.
constexpr std::string_view unit_name(const LayoutSpec& spec) noexcept {
  for (const NamedLayout& named : kNamedLayouts)
    if (named.spec == spec) return named.name;
  return {};
}

enum class LayoutFault : uint8_t {
  kNone,
  kUnknownName,  // one word, neither a name nor a part
  kUnknownPart,  // neither time:, shard:, seq:, unit: nor epoch:
  kDoubledPart,
  kMissingPart,
  kWidthForm,  // not digits alone
  kTimeWidth,  // not 1 to 63
  kWidth,      // of the shard or the sequence: not 0 to 63
  kUnitForm,   // not digits and the name of a unit
  kUnitRange,
  kEpochForm,
  kEpochRange,
  kSum,  // the widths add up to more than 64
};

// The leftmost fault of a text, else a fault of the whole. part: the faulty word, pointing into the
// text; the name of the missing part; empty for kSum.
struct LayoutError {
  LayoutFault fault;
  std::string_view part;
};

// Enough for any layout: the longest has three fields, microseconds, and a unit of eleven digits.
inline constexpr size_t kLayoutTextSize = 96;

namespace layout_text {

// The parts of a specification: the fields by their numbers, then the others.
enum Key : uint8_t { kUnitKey = kSeqField + 1, kEpochKey };
inline constexpr std::string_view kKeyNames[] = {"time", "shard", "seq", "unit", "epoch"};

// PostgreSQL's names of units of time, longest unit first.
struct Unit {
  std::string_view name;
  uint64_t us;
};
inline constexpr Unit kUnits[] = {{"d", 86'400'000'000}, {"h", 3'600'000'000}, {"min", 60'000'000},
                                  {"s", 1'000'000},      {"ms", 1000},         {"us", 1}};

constexpr bool is_space(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

// Removes the first word and the spaces after it from the text.
constexpr std::string_view cut_word(std::string_view* text) noexcept {
  size_t end = 0;
  while (end < text->size() && !is_space((*text)[end])) end++;
  const std::string_view word(text->data(), end);
  while (end < text->size() && is_space((*text)[end])) end++;
  text->remove_prefix(end);
  return word;
}

// Fails with kMalformed without digits, and, after reading them, with kNumberOutOfRange.
inline Status cut_number(std::string_view* text, uint64_t* number) noexcept {
  if (text->empty() || !is_digit(text->front())) return Status::kMalformed;
  const auto [rest, error] = std::from_chars(text->data(), text->data() + text->size(), *number);
  text->remove_prefix(static_cast<size_t>(rest - text->data()));
  return error == std::errc{} ? Status::kOk : Status::kNumberOutOfRange;
}

inline Status parse_unit(std::string_view text, uint64_t* unit_us) noexcept {
  uint64_t number = 0;
  const Status status = cut_number(&text, &number);
  if (status == Status::kMalformed) return status;
  for (const Unit& unit : kUnits) {
    if (unit.name != text) continue;
    if (status != Status::kOk || number < 1 || number > kLongestUnitUs / unit.us)
      return Status::kNumberOutOfRange;
    *unit_us = number * unit.us;
    return Status::kOk;
  }
  return Status::kMalformed;
}

// Unix milliseconds, with a minus sign before 1970.
inline Status parse_unix_epoch(std::string_view text, int64_t* epoch_us) noexcept {
  const bool is_negative = !text.empty() && text.front() == '-';
  if (is_negative) text.remove_prefix(1);
  uint64_t ms = 0;
  const Status status = cut_number(&text, &ms);
  if (status == Status::kMalformed || !text.empty()) return Status::kMalformed;
  const int64_t most_us = is_negative ? -kFirstEpoch.value : kLastEpoch.value;
  if (status != Status::kOk || ms > static_cast<uint64_t>(most_us / 1000))
    return Status::kNumberOutOfRange;
  *epoch_us = (is_negative ? -1000 : 1000) * static_cast<int64_t>(ms);
  return Status::kOk;
}

// 2011-08-24T21:07:01.721Z, with up to six digits of fraction, or Unix milliseconds.
inline Status parse_epoch(std::string_view text, int64_t* epoch_us) noexcept {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.empty() || text.back() != 'Z') return parse_unix_epoch(text, epoch_us);
  if (text.size() < kForm.size() + 1) return Status::kMalformed;
  for (size_t at = 0; at < kForm.size(); at++)
    if (is_digit(kForm[at]) ? !is_digit(text[at]) : text[at] != kForm[at])
      return Status::kMalformed;
  const auto number = [text](size_t at, size_t digits) {
    int value = 0;
    for (size_t i = at; i < at + digits; i++) value = value * 10 + (text[i] - '0');
    return value;
  };

  int64_t fraction_us = 0;
  std::string_view fraction = text;
  fraction.remove_prefix(kForm.size());
  fraction.remove_suffix(1);
  if (!fraction.empty()) {
    if (fraction.size() < 2 || fraction.size() > 7 || fraction.front() != '.')
      return Status::kMalformed;
    for (size_t at = 1; at <= 6; at++) {
      const char digit = at < fraction.size() ? fraction[at] : '0';
      if (!is_digit(digit)) return Status::kMalformed;
      fraction_us = fraction_us * 10 + (digit - '0');
    }
  }

  const std::chrono::year_month_day day{std::chrono::year{number(0, 4)},
                                        std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                        std::chrono::day{static_cast<unsigned>(number(8, 2))}};
  if (number(0, 4) < 1 || !day.ok() || number(11, 2) > 23 || number(14, 2) > 59 ||
      number(17, 2) > 59)
    return Status::kNumberOutOfRange;
  const int64_t seconds = std::chrono::sys_days{day}.time_since_epoch().count() * int64_t{86400} +
                          number(11, 2) * 3600 + number(14, 2) * 60 + number(17, 2);
  *epoch_us = seconds * 1'000'000 + fraction_us;
  return Status::kOk;
}

struct Writer {
  char* at;

  constexpr void put_field(std::string_view text) noexcept {
    at = std::copy(text.begin(), text.end(), at);
  }
  // In decimal, with leading zeros to at least `digits` digits.
  constexpr void put_number(uint64_t number, int digits = 1) noexcept {
    char reversed[20];
    int length = 0;
    for (; number > 0 || length < digits; number /= 10)
      reversed[length++] = static_cast<char>('0' + number % 10);
    while (length > 0) *at++ = reversed[--length];
  }
};

inline void format_epoch(int64_t epoch_us, Writer* out) noexcept {
  const std::chrono::sys_time<std::chrono::microseconds> epoch{std::chrono::microseconds{epoch_us}};
  const auto midnight = std::chrono::floor<std::chrono::days>(epoch);
  const std::chrono::year_month_day day{midnight};
  const uint64_t us = static_cast<uint64_t>((epoch - midnight).count());
  out->put_number(static_cast<uint64_t>(static_cast<int>(day.year())), 4);
  out->put_field("-");
  out->put_number(static_cast<unsigned>(day.month()), 2);
  out->put_field("-");
  out->put_number(static_cast<unsigned>(day.day()), 2);
  out->put_field("T");
  out->put_number(us / 3'600'000'000, 2);
  out->put_field(":");
  out->put_number(us / 60'000'000 % 60, 2);
  out->put_field(":");
  out->put_number(us / 1'000'000 % 60, 2);
  if (us % 1'000'000 != 0) {
    out->put_field(".");
    const bool has_micros = us % 1000 != 0;
    out->put_number(has_micros ? us % 1'000'000 : us % 1'000'000 / 1000, has_micros ? 6 : 3);
  }
  out->put_field("Z");
}

struct Words {
  uint64_t widths[3];
  uint64_t unit_us;
  int64_t epoch_us;
  Field order[3];
  int fields;
  unsigned seen;  // a bit for each key
};

constexpr LayoutFault fault_of(Status status, LayoutFault form, LayoutFault range) noexcept {
  return status == Status::kOk ? LayoutFault::kNone : status == Status::kMalformed ? form : range;
}

inline LayoutFault parse_part(std::string_view part, Words* words) noexcept {
  const size_t colon = part.find(':');
  const std::string_view key_name(part.data(), std::min(colon, part.size()));
  const auto* name = std::find(std::begin(kKeyNames), std::end(kKeyNames), key_name);
  if (colon == std::string_view::npos || name == std::end(kKeyNames))
    return LayoutFault::kUnknownPart;
  const auto key = static_cast<unsigned>(name - std::begin(kKeyNames));
  if (words->seen & 1u << key) return LayoutFault::kDoubledPart;
  words->seen |= 1u << key;
  part.remove_prefix(colon + 1);

  if (key == kUnitKey)
    return fault_of(parse_unit(part, &words->unit_us), LayoutFault::kUnitForm,
                    LayoutFault::kUnitRange);
  if (key == kEpochKey)
    return fault_of(parse_epoch(part, &words->epoch_us), LayoutFault::kEpochForm,
                    LayoutFault::kEpochRange);
  words->order[words->fields++] = static_cast<Field>(key);
  uint64_t* width = &words->widths[key];
  const Status status = cut_number(&part, width);
  if (status == Status::kMalformed || !part.empty()) return LayoutFault::kWidthForm;
  const bool is_time = key == kTimeField;
  if (status == Status::kOk && *width <= 63 && (!is_time || *width >= 1)) return LayoutFault::kNone;
  return is_time ? LayoutFault::kTimeWidth : LayoutFault::kWidth;
}

inline LayoutError parse_spec(std::string_view text, LayoutSpec* spec) noexcept {
  Words words{};
  while (!text.empty()) {
    const std::string_view part = cut_word(&text);
    const LayoutFault fault = parse_part(part, &words);
    if (fault != LayoutFault::kNone) return {fault, part};
  }
  for (unsigned key = 0; key < std::size(kKeyNames); key++)
    if (!(words.seen & 1u << key)) return {LayoutFault::kMissingPart, kKeyNames[key]};
  if (words.widths[0] + words.widths[1] + words.widths[2] > 64) return {LayoutFault::kSum, {}};

  uint64_t order = 0;
  while (!std::equal(std::begin(words.order), std::end(words.order), kFieldsInOrder[order]))
    order++;
  *spec = canonical({words.epoch_us, words.unit_us, words.widths[kTimeField],
                     words.widths[kShardField], words.widths[kSeqField], order});
  return {};
}

}  // namespace layout_text

// Writes a valid layout, without a terminator, to a buffer of kLayoutTextSize; returns the length.
inline size_t format_layout_spec(const LayoutSpec& spec, char* text) noexcept {
  using namespace layout_text;
  Writer out{text};
  for (const Field field : kFieldsInOrder[spec.order()]) {
    const uint64_t widths[] = {spec.time_bits(), spec.shard_bits(), spec.seq_bits()};
    out.put_field(kKeyNames[field]);
    out.put_field(":");
    out.put_number(widths[field]);
    out.put_field(" ");
  }
  for (const Unit& unit : kUnits) {
    if (spec.unit_us() % unit.us != 0) continue;
    out.put_field("unit:");
    out.put_number(spec.unit_us() / unit.us);
    out.put_field(unit.name);
    break;
  }
  out.put_field(" epoch:");
  format_epoch(spec.epoch_us, &out);
  return static_cast<size_t>(out.at - text);
}

// Writes the layout's name, else its specification. Same buffer and result.
inline size_t format_layout(const LayoutSpec& spec, char* text) noexcept {
  const std::string_view name = unit_name(spec);
  if (name.empty()) return format_layout_spec(spec, text);
  std::copy(name.begin(), name.end(), text);
  return name.size();
}

// Reads a name or a specification: time, shard, seq, unit, and epoch, each once, in any order. The
// order of the first three is that of the fields. Leaves *spec unchanged on a fault.
inline LayoutError parse_layout(std::string_view text, LayoutSpec* spec) noexcept {
  while (!text.empty() && layout_text::is_space(text.front())) text.remove_prefix(1);
  std::string_view rest = text;
  const std::string_view first_word = layout_text::cut_word(&rest);
  if (rest.empty()) {
    for (const NamedLayout& named : kNamedLayouts) {
      if (named.name != first_word) continue;
      *spec = named.spec;
      return {};
    }
    if (first_word.find(':') == std::string_view::npos)
      return {LayoutFault::kUnknownName, first_word};
  }
  return layout_text::parse_spec(text, spec);
}

}  // namespace snowid::core
