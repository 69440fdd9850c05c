// Tests of core/scatter.hpp: TiDB's examples, every length against the digits as a string, the
// inverse, and what is refused.
#include "core/scatter.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "random.hpp"

namespace snowid::core::test {
namespace {

constexpr std::string_view kGreatest = "9223372036854775807";

Status StatusOf(int64_t id, int digits) {
  Id result{};
  return scatter({id}, digits, &result);
}

Status StatusBack(int64_t id, int digits) {
  Id result{};
  return unscatter({id}, digits, &result);
}

int64_t Scattered(int64_t id, int digits) {
  Id result{};
  EXPECT_EQ(scatter({id}, digits, &result), Status::kOk) << id << ", " << digits;
  return result.value;
}

int64_t Unscattered(int64_t id, int digits) {
  Id result{};
  EXPECT_EQ(unscatter({id}, digits, &result), Status::kOk) << id << ", " << digits;
  return result.value;
}

// A bigint of the given number of digits; zeros and nines among them are frequent.
int64_t AnyId(Random* random, size_t length) {
  for (;;) {
    std::string id;
    const uint64_t favorite = random->Below(3);
    while (id.size() < length) {
      const uint64_t digit = random->Below(2) == 0 ? random->Below(10) : favorite == 0 ? 9 : 0;
      if (digit > 0 || !id.empty() || length == 1) id += static_cast<char>('0' + digit);
    }
    if (id.size() < kGreatest.size() || id <= kGreatest) return std::stoll(id);
  }
}

// The digits as a string, moved. Of digits that fit.
std::string Moved(const std::string& id, size_t digits) {
  return id.substr(0, 1) + id.substr(id.size() - digits) + id.substr(1, id.size() - digits - 1);
}

std::string MovedBack(const std::string& id, size_t digits) {
  return id.substr(0, 1) + id.substr(1 + digits) + id.substr(1, digits);
}

struct Example {
  int64_t id;
  int64_t scattered;
};

constexpr Example kTidb[] = {
    {561632371724517376, 566163237172451737}, {561632371728711680, 506163237172871168},
    {561632371728711681, 516163237172871168}, {561632371728711682, 526163237172871168},
    {561632371732905984, 546163237173290598}, {561632371732905987, 576163237173290598},
    {561632371737100288, 586163237173710028},
};

TEST(Scatter, TidbsExamples) {
  static_assert([] {
    Id result{};
    return scatter({561632371724517376}, 1, &result) == Status::kOk &&
           result.value == 566163237172451737;
  }());
  for (const Example& example : kTidb) {
    EXPECT_EQ(Scattered(example.id, 1), example.scattered);
    EXPECT_EQ(Unscattered(example.scattered, 1), example.id);
  }
}

TEST(Scatter, SeveralDigitsKeepTheirOrder) {
  EXPECT_EQ(Scattered(123456789, 1), 192345678);
  EXPECT_EQ(Scattered(123456789, 2), 189234567);
  EXPECT_EQ(Scattered(123456789, 3), 178923456);
  EXPECT_EQ(Unscattered(192345678, 1), 123456789);
  EXPECT_EQ(Unscattered(189234567, 2), 123456789);
  EXPECT_EQ(Unscattered(178923456, 3), 123456789);
}

TEST(Scatter, ZerosKeepTheirPlaces) {
  EXPECT_EQ(Scattered(5000007, 1), 5700000);
  EXPECT_EQ(Unscattered(5700000, 1), 5000007);
  EXPECT_EQ(Scattered(5000700, 3), 5700000);
  EXPECT_EQ(Unscattered(5700000, 3), 5000700);
  EXPECT_EQ(Scattered(5070000, 2), 5000700);
  EXPECT_EQ(Unscattered(5000700, 2), 5070000);
  EXPECT_EQ(Scattered(1000000000000000000, 3), 1000000000000000000);
}

TEST(Scatter, TheShortestIdsAreAsTheyWere) {
  for (int64_t id = 10; id < 100; id++) EXPECT_EQ(Scattered(id, 1), id);
  for (int64_t id = 100; id < 1000; id++) EXPECT_EQ(Scattered(id, 2), id);
  for (int64_t id = 1000; id < 10000; id++) EXPECT_EQ(Scattered(id, 3), id);
}

TEST(Scatter, IsAsTheStringsDigitsMovedAndComesBack) {
  Random random(21);
  int refused = 0;
  for (int i = 0; i < 600000; i++) {
    const size_t length = 1 + random.Below(19);
    const int digits = 1 + static_cast<int>(random.Below(kMostScatterDigits));
    const int64_t id = AnyId(&random, length);
    const std::string text = std::to_string(id);
    ASSERT_EQ(text.size(), length);
    Id there{-7};
    Id back{-7};
    const Status there_status = scatter({id}, digits, &there);
    const Status back_status = unscatter({id}, digits, &back);
    const auto wide = static_cast<size_t>(digits);
    if (length <= wide) {
      if (there_status != Status::kTooFewDigits || back_status != Status::kTooFewDigits)
        FAIL() << id << ", " << digits;
      continue;
    }
    const auto check = [&](Status status, int64_t result, const std::string& expected) {
      const bool fits = expected.size() < kGreatest.size() || expected <= kGreatest;
      refused += !fits;
      if (!fits) return status == Status::kResultOutOfRange && result == -7;
      return status == Status::kOk && std::to_string(result) == expected;
    };
    if (!check(there_status, there.value, Moved(text, wide)))
      FAIL() << id << ", " << digits << ": " << there.value;
    if (!check(back_status, back.value, MovedBack(text, wide)))
      FAIL() << id << ", " << digits << ": " << back.value << " back";
    if (there_status == Status::kOk && Unscattered(there.value, digits) != id)
      FAIL() << id << ", " << digits;
    if (back_status == Status::kOk && Scattered(back.value, digits) != id)
      FAIL() << id << ", " << digits;
  }
  EXPECT_GT(refused, 500);
}

TEST(Scatter, RefusesOtherNumbersOfDigits) {
  for (const int digits : {0, -1, 4, 5, 18, 19, 64, INT32_MAX, INT32_MIN}) {
    for (const int64_t id : {int64_t{561632371724517376}, INT64_MAX, int64_t{0}, int64_t{-1}}) {
      EXPECT_EQ(StatusOf(id, digits), Status::kDigitsOutOfRange) << id << ", " << digits;
      EXPECT_EQ(StatusBack(id, digits), Status::kDigitsOutOfRange) << id << ", " << digits;
    }
  }
}

TEST(Scatter, RefusesNegativeIds) {
  for (int digits = 1; digits <= kMostScatterDigits; digits++) {
    for (const int64_t id : {int64_t{-1}, int64_t{-561632371724517376}, INT64_MIN}) {
      EXPECT_EQ(StatusOf(id, digits), Status::kNegativeId) << id;
      EXPECT_EQ(StatusBack(id, digits), Status::kNegativeId) << id;
    }
  }
}

TEST(Scatter, RefusesTooFewDigits) {
  int64_t shortest = 10;
  for (int digits = 1; digits <= kMostScatterDigits; digits++, shortest *= 10) {
    for (const int64_t id : {int64_t{0}, int64_t{9}, shortest - 1}) {
      EXPECT_EQ(StatusOf(id, digits), Status::kTooFewDigits) << id << ", " << digits;
      EXPECT_EQ(StatusBack(id, digits), Status::kTooFewDigits) << id << ", " << digits;
    }
    EXPECT_EQ(StatusOf(shortest, digits), Status::kOk) << digits;
    EXPECT_EQ(StatusBack(shortest, digits), Status::kOk) << digits;
  }
}

TEST(Scatter, RefusesResultsThatNoBigintHolds) {
  // The greatest bigint, and the number above it.
  EXPECT_EQ(Unscattered(9072233720368547758, 2), INT64_MAX);
  EXPECT_EQ(StatusBack(9082233720368547758, 2), Status::kResultOutOfRange);
  EXPECT_EQ(Scattered(INT64_MAX, 2), 9072233720368547758);
  EXPECT_EQ(StatusOf(INT64_MAX, 1), Status::kResultOutOfRange);
  EXPECT_EQ(StatusOf(INT64_MAX, 3), Status::kResultOutOfRange);
  for (int digits = 1; digits <= kMostScatterDigits; digits++)
    EXPECT_EQ(StatusBack(INT64_MAX, digits), Status::kResultOutOfRange) << digits;
  // Nothing that begins with another digit is refused.
  for (int digits = 1; digits <= kMostScatterDigits; digits++) {
    EXPECT_EQ(Scattered(8999999999999999999, digits), 8999999999999999999);
    EXPECT_EQ(Unscattered(8999999999999999999, digits), 8999999999999999999);
  }
}

}  // namespace
}  // namespace snowid::core::test
