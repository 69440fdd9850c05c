// Tests of core/objectid.hpp: known ObjectIDs, the ends of each part, and the text form to the last
// wrong character.
#include "core/objectid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "random.hpp"

namespace snowid::core::test {
namespace {

// MongoDB's own example: 2012-10-17 21:13:27 UTC.
constexpr std::string_view kText = "507f1f77bcf86cd799439011";
constexpr ObjectId kId{{0x50, 0x7f, 0x1f, 0x77, 0xbc, 0xf8, 0x6c, 0xd7, 0x99, 0x43, 0x90, 0x11}};
constexpr ObjectIdParts kParts{0x507f1f77, 0xbcf86cd799, 0x439011};

constexpr Status StatusOf(std::string_view text) {
  ObjectId id{};
  return parse_object_id(text, &id);
}

ObjectId Parsed(std::string_view text) {
  ObjectId id{};
  EXPECT_EQ(parse_object_id(text, &id), Status::kOk) << text;
  return id;
}

std::string Formatted(const ObjectId& id) {
  std::string text(kObjectIdDigits, '?');
  format_object_id(id, text.data());
  return text;
}

ObjectId AnyId(Random* random) {
  ObjectId id{};
  for (uint8_t& byte : id.bytes) byte = static_cast<uint8_t>(random->UpTo(255));
  return id;
}

ObjectIdParts AnyParts(Random* random) {
  return {static_cast<uint32_t>(random->UpTo(UINT32_MAX)), random->UpTo(kMaxObjectIdRandom),
          static_cast<uint32_t>(random->UpTo(kMaxObjectIdCounter))};
}

// The value of bytes first to first + count - 1, the most significant first.
uint64_t BigEndian(const ObjectId& id, size_t first, size_t count) {
  uint64_t value = 0;
  for (size_t place = first; place < first + count; place++) value = value * 256 + id.bytes[place];
  return value;
}

TEST(ObjectId, IsComputedAtCompileTime) {
  static_assert([] {
    ObjectId id{};
    return parse_object_id(kText, &id) == Status::kOk && id == kId;
  }());
  static_assert([] {
    char text[kObjectIdDigits] = {};
    format_object_id(kId, text);
    return std::string_view(text, kObjectIdDigits) == kText;
  }());
  static_assert(compose_object_id(kParts) == kId);
  static_assert(time_of(kId) == UnixMicros{1350508407000000});
  static_assert(StatusOf("") == Status::kMalformed);
}

TEST(ObjectId, KnownOne) {
  EXPECT_EQ(Parsed(kText), kId);
  EXPECT_EQ(Parsed("507F1F77BCF86CD799439011"), kId);
  EXPECT_EQ(Parsed("507f1F77bCF86Cd799439011"), kId);
  EXPECT_EQ(Formatted(kId), kText);
  EXPECT_EQ(compose_object_id(kParts), kId);
  EXPECT_EQ(time_of(kId).value, 1350508407000000);
}

TEST(ObjectId, EndsOfEachPart) {
  const auto text_of = [](const ObjectIdParts& parts) {
    return Formatted(compose_object_id(parts));
  };
  EXPECT_EQ(text_of({0, 0, 0}), "000000000000000000000000");
  EXPECT_EQ(text_of({UINT32_MAX, 0, 0}), "ffffffff0000000000000000");
  EXPECT_EQ(text_of({0, kMaxObjectIdRandom, 0}), "00000000ffffffffff000000");
  EXPECT_EQ(text_of({0, 0, kMaxObjectIdCounter}), "000000000000000000ffffff");
  EXPECT_EQ(text_of({1, 1, 1}), "000000010000000001000001");
  EXPECT_EQ(text_of({0x01020304, 0x05060708090a0b0c & kMaxObjectIdRandom, 0x0d0e0f}),
            "0102030408090a0b0c0d0e0f");
  EXPECT_EQ(text_of({UINT32_MAX, kMaxObjectIdRandom, kMaxObjectIdCounter}),
            "ffffffffffffffffffffffff");
}

TEST(ObjectId, TimeIsUnsignedAndOfTheFirstFourBytesAlone) {
  const auto seconds_of = [](std::string_view text) { return time_of(Parsed(text)).value / 1e6; };
  EXPECT_EQ(seconds_of("000000000000000000000000"), 0);
  EXPECT_EQ(seconds_of("00000000ffffffffffffffff"), 0);
  EXPECT_EQ(seconds_of("000000010000000000000000"), 1);
  EXPECT_EQ(seconds_of("7fffffffffffffffffffffff"), 2147483647);
  EXPECT_EQ(seconds_of("800000000000000000000000"), 2147483648);
  EXPECT_EQ(seconds_of("ffffffff0000000000000000"), 4294967295);
  EXPECT_EQ(seconds_of("ffffffffffffffffffffffff"), 4294967295);
}

TEST(ObjectId, HoldsItsPartsBigEndian) {
  Random random(1);
  for (int i = 0; i < 100000; i++) {
    const ObjectIdParts parts = AnyParts(&random);
    const ObjectId id = compose_object_id(parts);
    if (BigEndian(id, 0, 4) != parts.seconds || BigEndian(id, 4, 5) != parts.random ||
        BigEndian(id, 9, 3) != parts.counter ||
        time_of(id).value != int64_t{parts.seconds} * 1000000)
      FAIL() << parts.seconds << " " << parts.random << " " << parts.counter << ": "
             << Formatted(id);
  }
}

TEST(ObjectId, IsOrderedAsItsPartsAreAndAsItsTextIs) {
  Random random(2);
  for (int i = 0; i < 100000; i++) {
    const ObjectIdParts parts[] = {AnyParts(&random), AnyParts(&random)};
    const ObjectIdParts a = parts[0];
    // Mostly equal ones, or the later parts would seldom decide.
    const ObjectIdParts b = {parts[random.Below(4) == 0].seconds,
                             parts[random.Below(4) == 0].random,
                             parts[random.Below(4) == 0].counter};
    const auto by_parts =
        std::tie(a.seconds, a.random, a.counter) <=> std::tie(b.seconds, b.random, b.counter);
    const ObjectId x = compose_object_id(a);
    const ObjectId y = compose_object_id(b);
    const auto by_text = Formatted(x) <=> Formatted(y);
    if ((x <=> y) != by_parts || (x <=> y) != by_text || (x == y) != (by_parts == 0))
      FAIL() << Formatted(x) << " " << Formatted(y);
  }
}

TEST(ObjectId, EachByteAloneDecides) {
  for (size_t place = 0; place < kObjectIdBytes; place++) {
    for (int low = 0; low < 256; low++) {
      for (int high = low; high < 256; high++) {
        ObjectId a = kId;
        ObjectId b = kId;
        a.bytes[place] = static_cast<uint8_t>(low);
        b.bytes[place] = static_cast<uint8_t>(high);
        // The bytes after it weigh less.
        for (size_t after = place + 1; low < high && after < kObjectIdBytes; after++) {
          a.bytes[after] = 255;
          b.bytes[after] = 0;
        }
        if ((a < b) != (low < high) || (b > a) != (low < high) || (a == b) != (low == high))
          FAIL() << Formatted(a) << " " << Formatted(b);
      }
    }
  }
}

// A server whose clock was ahead, and whose ticks are then set back: after so many steps of a
// process that makes an ObjectID the random number is another one, the ticks are set back, the
// random number is the last one. Until they are set back whoever may run that far ahead takes a
// tick that will come again.
struct Server {
  int random_is_between;
  int is_set_back;
  int random_is_new;
  int step = 0;

  static constexpr uint64_t kOld = 1, kBetween = 2, kNew = 3;
  static constexpr Tick kAhead = make_tick(kObjectIdLayout, {4'000'000'000}, {0});
  static constexpr Tick kRight = make_tick(kObjectIdLayout, {2'000'000'000}, {0});

  uint64_t ReadRandom() {
    const int now = step++;
    return now < random_is_between ? kOld : now < random_is_new ? kBetween : kNew;
  }
  Tick TakeTick() { return step++ < is_set_back ? kAhead : kRight; }
};

TEST(ObjectIdNext, TicksThatComeAgainHaveAnotherRandomNumber) {
  constexpr int kSteps = 12;
  for (int between = 0; between < kSteps; between++)
    for (int back = between; back < kSteps; back++)
      for (int fresh = back; fresh < kSteps; fresh++) {
        Server server{between, back, fresh};
        const ObjectId id =
            next_object_id([&] { return server.ReadRandom(); }, [&] { return server.TakeTick(); });
        // Those of before with the tick that comes again, and those of after with any other.
        EXPECT_NE(id, object_id_of(Server::kAhead, Server::kNew))
            << between << " " << back << " " << fresh;
        EXPECT_NE(id, object_id_of(Server::kRight, Server::kOld))
            << between << " " << back << " " << fresh;
      }
}

TEST(ObjectIdText, ThereAndBackInEitherCase) {
  Random random(3);
  for (int i = 0; i < 100000; i++) {
    const ObjectId id = AnyId(&random);
    std::string text = Formatted(id);
    ASSERT_EQ(text.find_first_not_of("0123456789abcdef"), text.npos) << text;
    ASSERT_EQ(Parsed(text), id) << text;
    for (char& letter : text)
      if (letter >= 'a' && random.Below(2) == 0) letter = static_cast<char>(letter - 'a' + 'A');
    ASSERT_EQ(Parsed(text), id) << text;
  }
}

TEST(ObjectIdText, EveryByteInEveryPlace) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  for (size_t place = 0; place < kObjectIdBytes; place++) {
    for (size_t value = 0; value < 256; value++) {
      ObjectId id = kId;
      id.bytes[place] = static_cast<uint8_t>(value);
      std::string text(kText);
      text[2 * place] = kDigits[value / 16];
      text[2 * place + 1] = kDigits[value % 16];
      ASSERT_EQ(Formatted(id), text);
      ASSERT_EQ(Parsed(text), id) << text;
    }
  }
}

TEST(ObjectIdText, RefusesEveryOtherCharacterInEveryPlace) {
  constexpr std::string_view kDigits = "0123456789abcdefABCDEF";
  int accepted = 0;
  for (size_t place = 0; place < kObjectIdDigits; place++) {
    for (int code = 0; code < 256; code++) {
      std::string text(kText);
      text[place] = static_cast<char>(code);
      const bool is_digit = kDigits.find(text[place]) != kDigits.npos;
      accepted += is_digit;
      if (StatusOf(text) != (is_digit ? Status::kOk : Status::kMalformed))
        FAIL() << "character " << code << " in place " << place;
    }
  }
  EXPECT_EQ(accepted, 24 * 22);
}

TEST(ObjectIdText, RefusesEveryOtherLength) {
  for (size_t length = 0; length <= 1000; length++) {
    // A vector of its own size, so that a sanitizer sees whoever reads past it.
    const std::vector<char> digits(length, '7');
    EXPECT_EQ(StatusOf({digits.data(), length}),
              length == kObjectIdDigits ? Status::kOk : Status::kMalformed)
        << length;
  }
}

TEST(ObjectIdText, RefusesOtherForms) {
  using std::string_view_literals::operator""sv;
  for (const std::string_view text :
       {" 507f1f77bcf86cd799439011"sv, "507f1f77bcf86cd799439011 "sv, " 07f1f77bcf86cd799439011"sv,
        "507f1f77bcf86cd79943901\n"sv, "\\x507f1f77bcf86cd799439011"sv,
        "\\x507f1f77bcf86cd7994390"sv, "0x507f1f77bcf86cd7994390"sv, "+507f1f77bcf86cd79943901"sv,
        "-507f1f77bcf86cd79943901"sv, "507f1f77-bcf8-6cd7994390"sv, "507f1f77bcf86cd79943901\0"sv,
        "507f1f77bcf86cd799439011\0"sv, "507f1f77bcf86cd7994390\xc3\xa9"sv,
        "507f1f77bcf86cd799439\xef\xbc\x91"sv, "ObjectId(\"507f1f77bcf86cd799439011\")"sv})
    EXPECT_EQ(StatusOf(text), Status::kMalformed) << "\"" << text << "\"";
}

TEST(ObjectIdText, LeavesNothingOfWhatWasThereBefore) {
  ObjectId id{};
  std::fill(std::begin(id.bytes), std::end(id.bytes), uint8_t{0xff});
  EXPECT_EQ(parse_object_id("000000000000000000000000", &id), Status::kOk);
  EXPECT_EQ(id, ObjectId{});
}

TEST(ObjectIdText, WritesTwentyFourCharactersAndNoMore) {
  std::string text(kObjectIdDigits + 2, '#');
  format_object_id(kId, text.data() + 1);
  EXPECT_EQ(text, "#" + std::string(kText) + "#");
}

}  // namespace
}  // namespace snowid::core::test
