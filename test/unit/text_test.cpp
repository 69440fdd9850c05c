// Tests of core/text.hpp: known texts, every bigint there and back and in order, and all that is no
// text.
#include "core/text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "random.hpp"

namespace snowid::core::test {
namespace {

std::string TextOf(int64_t id) { return std::string(format_text({id}).view_of()); }

Status StatusOf(std::string_view text) {
  Id id{};
  return parse_text(text, &id);
}

int64_t Parsed(std::string_view text) {
  Id id{};
  EXPECT_EQ(parse_text(text, &id), Status::kOk) << text;
  return id.value;
}

int64_t AnyId(Random* random) {
  const auto value = static_cast<int64_t>(random->UpTo(INT64_MAX));
  return random->Below(2) == 0 ? value : -value - 1;
}

struct Known {
  int64_t id;
  std::string_view text;
};

constexpr Known kKnown[] = {
    {INT64_MIN, "00000000000"},
    {INT64_MIN + 1, "00000000001"},
    {-1, "AzL8n0Y58m7"},
    {0, "AzL8n0Y58m8"},
    {1, "AzL8n0Y58m9"},
    {61, "AzL8n0Y58n7"},
    {62, "AzL8n0Y58n8"},
    {9007199254740992, "B00OTnm2bQG"},
    {11637205501278089, "B0CRIXKjCuH"},
    {INT64_MAX - 1, "LygHa16AHYE"},
    {INT64_MAX, "LygHa16AHYF"},
};

TEST(Text, KnownTexts) {
  static_assert(format_text({0}).view_of() == "AzL8n0Y58m8");
  static_assert([] {
    Id id{};
    return parse_text("LygHa16AHYF", &id) == Status::kOk && id.value == INT64_MAX;
  }());
  for (const Known& known : kKnown) {
    EXPECT_EQ(TextOf(known.id), known.text);
    EXPECT_EQ(Parsed(known.text), known.id);
  }
}

TEST(Text, DigitsAreThoseOfAsciiInItsOrder) {
  EXPECT_EQ(kTextDigits.size(), 62u);
  EXPECT_TRUE(std::is_sorted(kTextDigits.begin(), kTextDigits.end()));
  for (int character = 0; character < 256; character++) {
    const char digit = static_cast<char>(character);
    const bool expected = (digit >= '0' && digit <= '9') || (digit >= 'A' && digit <= 'Z') ||
                          (digit >= 'a' && digit <= 'z');
    EXPECT_EQ(kTextDigits.find(digit) != kTextDigits.npos, expected) << character;
  }
}

TEST(Text, EveryIdComesBackAndInOrder) {
  Random random(11);
  for (int i = 0; i < 300000; i++) {
    const int64_t one = AnyId(&random);
    const int64_t other = random.Below(4) == 0 && one < INT64_MAX ? one + 1 : AnyId(&random);
    if (Parsed(TextOf(one)) != one || (TextOf(one) < TextOf(other)) != (one < other))
      FAIL() << one << ", " << other;
  }
}

TEST(Text, PlacesCountUpAsInPlainDivision) {
  Random random(12);
  for (int i = 0; i < 100000; i++) {
    const int64_t id = AnyId(&random);
    // From the last place to the first, in steps of one, unlike the formatter's and the parser's.
    std::string expected(kTextLength, '0');
    uint64_t value = static_cast<uint64_t>(id) + (uint64_t{1} << 63);
    for (auto place = expected.rbegin(); value > 0; ++place, value /= 62) {
      const auto digit = static_cast<char>(value % 62);
      *place = static_cast<char>(digit < 10   ? '0' + digit
                                 : digit < 36 ? 'A' + digit - 10
                                              : 'a' + digit - 36);
    }
    if (TextOf(id) != expected) FAIL() << id << ": " << TextOf(id) << " is not " << expected;
  }
}

TEST(Text, WhatIsAboveTheGreatestBigintIsOutOfRange) {
  for (const std::string_view text :
       {"LygHa16AHYG", "LygHa16AHYz", "LygHa16AHZ0", "LygHa16AI00", "Lyh00000000", "M0000000000",
        "N0000000000", "a0000000000", "z0000000000", "zzzzzzzzzzz", "zzzzzzzzzz0"})
    EXPECT_EQ(StatusOf(text), Status::kNumberOutOfRange) << text;
  Random random(13);
  for (int i = 0; i < 300000; i++) {
    std::string text = i % 2 == 0 ? "LygHa16AHYF" : std::string(kTextLength, '0');
    for (uint64_t changes = random.Below(i % 2 == 0 ? 3 : 30); changes > 0; changes--)
      text[random.Below(text.size())] = kTextDigits[random.Below(62)];
    // The order of the texts is the numbers'.
    const Status expected = text <= "LygHa16AHYF" ? Status::kOk : Status::kNumberOutOfRange;
    if (StatusOf(text) != expected) FAIL() << text;
  }
}

TEST(Text, AnotherLengthIsMalformed) {
  for (size_t length = 0; length <= 200; length++) {
    if (length == kTextLength) continue;
    EXPECT_EQ(StatusOf(std::string(length, '0')), Status::kMalformed) << length;
    EXPECT_EQ(StatusOf(std::string(length, 'z')), Status::kMalformed) << length;
  }
  // It does not look at what comes after the end either.
  constexpr std::string_view kLonger = "AzL8n0Y58m812345";
  EXPECT_EQ(Parsed(kLonger.substr(0, kTextLength)), 0);
}

TEST(Text, AnyOtherByteAnywhereIsMalformed) {
  for (const std::string_view text : {"AzL8n0Y58m8", "zzzzzzzzzzz", "00000000000"}) {
    for (size_t place = 0; place < kTextLength; place++) {
      for (int character = 0; character < 256; character++) {
        std::string changed(text);
        changed[place] = static_cast<char>(character);
        const bool digit = kTextDigits.find(changed[place]) != kTextDigits.npos;
        EXPECT_EQ(StatusOf(changed) == Status::kMalformed, !digit) << place << " " << character;
      }
    }
  }
}

TEST(Text, WhatFailsLeavesTheIdAlone) {
  Id id{42};
  EXPECT_EQ(parse_text("LygHa16AHYG", &id), Status::kNumberOutOfRange);
  EXPECT_EQ(parse_text("AzL8n0Y58m", &id), Status::kMalformed);
  EXPECT_EQ(parse_text("AzL8n0Y58m-", &id), Status::kMalformed);
  EXPECT_EQ(id.value, 42);
}

}  // namespace
}  // namespace snowid::core::test
