// Tests of core/layout_text.hpp's ParseLayout: every way to say the same, and what is malformed or
// out of range.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/layout_text.hpp"
#include "layout_reading.hpp"
#include "layouts.hpp"

namespace snowid::core::test {
namespace {

const std::string kUnitWord = "unit:1ms";
const std::string kEpochWord = "epoch:2011-08-24T21:07:01.721Z";

// The words of Instagram's layout, for tests that put something else in the place of one.
const std::vector<std::string> kWords{"time:41", "shard:13", "seq:10", kUnitWord, kEpochWord};

// Whether the text is a layout's, is of another form, or has a number that no layout has.
Status StatusOf(std::string_view text) {
  LayoutSpec spec{};
  const LayoutFault fault = Parse(text, &spec);
  if (fault == LayoutFault::kNone) return Status::kOk;
  return LayoutReading::IsOfRange(fault) ? Status::kNumberOutOfRange : Status::kMalformed;
}

LayoutSpec Parsed(std::string_view text) {
  LayoutSpec spec{};
  EXPECT_EQ(Parse(text, &spec), LayoutFault::kNone) << text;
  return spec;
}

std::string Joined(const std::vector<std::string>& words, const std::string& space = " ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : space) + word;
  return text;
}

// Instagram's layout with another word in the place of the one of the same name.
std::string With(const std::string& word) {
  std::vector<std::string> words = kWords;
  for (std::string& old : words)
    if (old.substr(0, old.find(':')) == word.substr(0, word.find(':'))) old = word;
  return Joined(words);
}

TEST(ParseLayout, TakesTheWordsInAnyOrder) {
  std::vector<std::string> words = kWords;
  std::sort(words.begin(), words.end());
  int orders = 0;
  do {
    orders++;
    const std::string text = Joined(words);
    const LayoutSpec spec = Parsed(text);
    const auto comes_before = [&](const char* one, const char* other) {
      return text.find(one) < text.find(other);
    };
    const bool time_shard = comes_before("time", "shard");
    const bool time_seq = comes_before("time", "seq");
    const bool shard_seq = comes_before("shard", "seq");
    const uint64_t order = time_shard && time_seq     ? (shard_seq ? 0 : 1)
                           : !time_shard && shard_seq ? (time_seq ? 2 : 3)
                           : time_shard               ? 4
                                                      : 5;
    const LayoutSpec expected{kInstagram.spec.epoch_us, 1000, 41, 13, 10, order & 7};
    if (spec != expected) FAIL() << text;
  } while (std::next_permutation(words.begin(), words.end()));
  EXPECT_EQ(orders, 120);
}

TEST(ParseLayout, TakesSpacesAroundTheWords) {
  for (const std::string space : {" ", "  ", "\t", "\n", "\v", "\f", "\r", " \t\r\n ", "      "}) {
    EXPECT_EQ(Parsed(Joined(kWords, space)), kInstagram.spec);
    EXPECT_EQ(Parsed(space + Joined(kWords)), kInstagram.spec);
    EXPECT_EQ(Parsed(Joined(kWords) + space), kInstagram.spec);
    EXPECT_EQ(Parsed(space + "instagram"), kInstagram.spec);
    EXPECT_EQ(Parsed("instagram" + space), kInstagram.spec);
  }
  for (const std::string no_space : {"", ",", ";", "_", "\x1f", "\x0e", "\x08", "\xa0", "\xc2\xa0"})
    EXPECT_EQ(StatusOf(Joined(kWords, no_space)), Status::kMalformed);
}

TEST(ParseLayout, TakesLeadingZeros) {
  EXPECT_EQ(Parsed("time:041 shard:0013 seq:00000000000000000000000010 unit:01ms " + kEpochWord),
            kInstagram.spec);
  EXPECT_EQ(Parsed(With("shard:00")).shard_bits(), 0u);
}

TEST(ParseLayout, TakesTheSameUnitInOtherWords) {
  const auto unit_of = [](const std::string& unit) {
    return Parsed(With("unit:" + unit)).unit_us();
  };
  for (const char* unit : {"1d", "24h", "1440min", "86400s", "86400000ms", "86400000000us"})
    EXPECT_EQ(unit_of(unit), 86400000000u) << unit;
  for (const char* unit : {"1h", "60min", "3600s", "3600000ms", "3600000000us"})
    EXPECT_EQ(unit_of(unit), 3600000000u) << unit;
  for (const char* unit : {"1min", "60s", "60000ms", "60000000us"})
    EXPECT_EQ(unit_of(unit), 60000000u) << unit;
  for (const char* unit : {"1s", "1000ms", "1000000us"}) EXPECT_EQ(unit_of(unit), 1000000u) << unit;
  EXPECT_EQ(unit_of("1us"), 1u);
  EXPECT_EQ(unit_of("86399999999us"), 86399999999u);
}

TEST(ParseLayout, TakesUpToSixDigitsOfASecond) {
  const auto epoch_of = [](const std::string& epoch) {
    return Parsed(With("epoch:" + epoch)).epoch_us;
  };
  for (const char* epoch : {"1970-01-01T00:00:00Z", "1970-01-01T00:00:00.0Z",
                            "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000000Z"})
    EXPECT_EQ(epoch_of(epoch), 0) << epoch;
  EXPECT_EQ(epoch_of("1970-01-01T00:00:01.5Z"), 1500000);
  EXPECT_EQ(epoch_of("1970-01-01T00:00:01.05Z"), 1050000);
  EXPECT_EQ(epoch_of("1970-01-01T00:00:01.005Z"), 1005000);
  EXPECT_EQ(epoch_of("1970-01-01T00:00:01.0005Z"), 1000500);
  EXPECT_EQ(epoch_of("1970-01-01T00:00:01.00005Z"), 1000050);
  EXPECT_EQ(epoch_of("1970-01-01T00:00:01.000005Z"), 1000005);
  EXPECT_EQ(epoch_of("1969-12-31T23:59:59.999999Z"), -1);
  EXPECT_EQ(epoch_of("0001-01-01T00:00:00Z"), kFirstEpoch.value);
  EXPECT_EQ(epoch_of("9999-12-31T23:59:59.999999Z"), kLastEpoch.value);
  EXPECT_EQ(epoch_of("2000-02-29T00:00:00Z"), 951782400000000);
  EXPECT_EQ(epoch_of("2024-02-29T12:00:00Z"), 1709208000000000);
}

TEST(ParseLayout, TakesAnEpochInUnixMilliseconds) {
  const auto epoch_of = [](const std::string& epoch) {
    return Parsed(With("epoch:" + epoch)).epoch_us;
  };
  EXPECT_EQ(Parsed(With("epoch:1314220021721")), kInstagram.spec);
  for (const char* zero : {"0", "-0", "00", "-000"}) EXPECT_EQ(epoch_of(zero), 0) << zero;
  EXPECT_EQ(epoch_of("1"), 1000);
  EXPECT_EQ(epoch_of("-1"), -1000);
  EXPECT_EQ(epoch_of("0000000000000000000000000000001"), 1000);
  EXPECT_EQ(epoch_of("20110824210701"), 20110824210701000);
  EXPECT_EQ(epoch_of("-62135596800000"), kFirstEpoch.value);
  EXPECT_EQ(epoch_of("253402300799999"), kLastEpoch.value - 999);
}

TEST(ParseLayout, RefusesWhatIsNoName) {
  for (const char* text : {"",
                           " ",
                           "\n\t ",
                           "Instagram",
                           "INSTAGRAM",
                           "instagra",
                           "instagrams",
                           "instagram,",
                           "insta",
                           "instagram instagram",
                           "instagram twitter",
                           "js 53",
                           "js54",
                           "js53.",
                           "'js53'",
                           "\"js53\"",
                           "instagram time:41",
                           ":",
                           "::",
                           "time",
                           "time:",
                           ":41",
                           "time:41",
                           "0",
                           "-",
                           "null"})
    EXPECT_EQ(StatusOf(text), Status::kMalformed) << text;
  EXPECT_EQ(StatusOf("instagram " + Joined(kWords)), Status::kMalformed);
  EXPECT_EQ(StatusOf(Joined(kWords) + " instagram"), Status::kMalformed);
  EXPECT_EQ(StatusOf({}), Status::kMalformed);
  EXPECT_EQ(StatusOf({"instagram\0", 10}), Status::kMalformed);
  EXPECT_EQ(StatusOf({"\0instagram", 10}), Status::kMalformed);
  EXPECT_EQ(StatusOf({"instagram\0instagram", 19}), Status::kMalformed);
}

TEST(ParseLayout, RefusesWordsThatAreMissingDoubledOrUnknown) {
  const auto expect_malformed = [](const std::vector<std::string>& words) {
    EXPECT_EQ(StatusOf(Joined(words)), Status::kMalformed) << Joined(words);
  };
  for (size_t i = 0; i < kWords.size(); i++) {
    std::vector<std::string> fewer = kWords;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    expect_malformed(fewer);
    for (size_t at = 0; at <= fewer.size(); at++) {
      std::vector<std::string> doubled = kWords;
      doubled.insert(doubled.begin() + static_cast<ptrdiff_t>(at), kWords[i]);
      expect_malformed(doubled);
      // One word is missing, and another one twice there.
      std::vector<std::string> other = fewer;
      other.insert(other.begin() + static_cast<ptrdiff_t>(at), fewer[at % fewer.size()]);
      expect_malformed(other);
      for (const char* unknown : {"node:3", "worker:5", ":5", "time41", "5", ":", "Z", "seq2:1"}) {
        std::vector<std::string> with_unknown = kWords;
        with_unknown.insert(with_unknown.begin() + static_cast<ptrdiff_t>(at), unknown);
        expect_malformed(with_unknown);
        std::vector<std::string> for_another = fewer;
        for_another.insert(for_another.begin() + static_cast<ptrdiff_t>(at), unknown);
        expect_malformed(for_another);
      }
    }
  }
}

TEST(ParseLayout, RefusesWordsInAnotherForm) {
  const auto replaced = [](const std::string& word, const std::string& by) {
    std::string text = Joined(kWords);
    return text.replace(text.find(word), word.size(), by);
  };
  for (const auto& [word, by] : std::vector<std::pair<std::string, std::string>>{
           {"time:", "Time:"},    {"time:", "TIME:"},       {"time:", "time="},
           {"time:", "time :"},   {"time:", "time: "},      {"time:", "time::"},
           {"time:", "time"},     {"shard:", "shards:"},    {"shard:", "SHARD:"},
           {"seq:", "sequence:"}, {"seq:", "Seq:"},         {"unit:", "units:"},
           {"unit:", "Unit:"},    {"epoch:", "Epoch:"},     {"epoch:", "epoch: "},
           {"time:41", "time:"},  {"shard:13", "shard:"},   {"seq:10", "seq:"},
           {"unit:1ms", "unit:"}, {"time:41 ", "time:41,"}, {"time:41 ", "time:41"},
       })
    EXPECT_EQ(StatusOf(replaced(word, by)), Status::kMalformed) << word << " " << by;
}

TEST(ParseLayout, RefusesWidths) {
  for (const std::string name : {"time:", "shard:", "seq:"}) {
    for (const char* wrong : {"-1", "+1", "+41", "-0", "4 1", "0x10", "1e1", "10.", "1.0", "ten",
                              "10bits", "٣", ":10", "'1'", "1,", "-18446744073709551606"})
      EXPECT_EQ(StatusOf(With(name + wrong)), Status::kMalformed) << name << wrong;
    EXPECT_EQ(StatusOf(With(name + std::string("1\0", 2))), Status::kMalformed);
    // Those that would be right if they were cut to 7, 8, 32 or 64 bits.
    for (const char* wrong : {"65", "100", "127", "128", "138", "256", "266", "4294967306",
                              "9223372036854775818", "18446744073709551615", "18446744073709551616",
                              "18446744073709551626", "100000000000000000000000000000000000001"})
      EXPECT_EQ(StatusOf(With(name + wrong)), Status::kNumberOutOfRange) << name << wrong;
  }
  for (const char* none : {"time:0", "time:00"})
    EXPECT_EQ(StatusOf(With(none)), Status::kNumberOutOfRange) << none;
  for (const char* none : {"shard:0", "seq:0", "seq:000"})
    EXPECT_EQ(StatusOf(With(none)), Status::kOk) << none;
  // 65 bits in all, or 64 in one.
  for (const char* word : {"time:42", "shard:14", "seq:11", "time:64", "shard:64", "seq:64"})
    EXPECT_EQ(StatusOf(With(word)), Status::kNumberOutOfRange) << word;
  const std::string rest = " " + kUnitWord + " " + kEpochWord;
  for (const char* most :
       {"time:63 shard:0 seq:1", "time:1 shard:0 seq:63", "time:1 shard:62 seq:1",
        "time:1 shard:63 seq:0", "time:63 shard:1 seq:0", "time:63 shard:0 seq:0",
        "time:1 shard:0 seq:1", "time:1 shard:0 seq:0"})
    EXPECT_EQ(StatusOf(most + rest), Status::kOk) << most;
  for (const char* more :
       {"time:63 shard:1 seq:1", "time:1 shard:63 seq:1", "time:1 shard:1 seq:63",
        "time:64 shard:0 seq:0", "time:0 shard:0 seq:64", "time:0 shard:64 seq:0",
        "time:127 shard:1 seq:1"})
    EXPECT_EQ(StatusOf(more + rest), Status::kNumberOutOfRange) << more;
}

TEST(ParseLayout, RefusesUnits) {
  for (const char* wrong :
       {"ms",   "1",       "1m",   "1sec",  "1second", "1day", "1days", "1D",
        "1H",   "1MS",     "1Ms",  "1Min",  "1mins",   "1w",   "1ns",   "-1ms",
        "+1ms", "1 ms",    "1.5s", "1msms", "1ms1",    "1mss", "1u",    "0x1s",
        "1µs",  "1h30min", "1:00", ":1ms",  "1ms:",    "1ms,", "s1",    "1e3us"})
    EXPECT_EQ(StatusOf(With("unit:" + std::string(wrong))), Status::kMalformed) << wrong;
  EXPECT_EQ(StatusOf(With(std::string("unit:1ms\0", 9))), Status::kMalformed);
  for (const char* wrong : {"0us",
                            "0ms",
                            "0s",
                            "0min",
                            "0h",
                            "0d",
                            "00d",
                            "2d",
                            "25h",
                            "1441min",
                            "86401s",
                            "86400001ms",
                            "86400000001us",
                            "1099511627777us",
                            "1099511627776us",
                            "18446744073709551615us",
                            "18446744073709551616us",
                            "18446744073709551617us",
                            "36893488147419103233ms",
                            "99999999999999999999999999999999999d"})
    EXPECT_EQ(StatusOf(With("unit:" + std::string(wrong))), Status::kNumberOutOfRange) << wrong;
}

// A number that, times its unit, comes out of 64 bits as a unit that could be.
TEST(ParseLayout, RefusesUnitsThatOverflow) {
  const struct {
    const char* name;
    uint64_t us;
  } kUnits[] = {
      {"d", 86400000000}, {"h", 3600000000}, {"min", 60000000}, {"s", 1000000}, {"ms", 1000}};
  for (const auto& [name, us] : kUnits)
    for (uint64_t turn = 1; turn < 200; turn++) {
      const Wide number = ((Wide{turn} << 64) + us) / us;  // the product is turn * 2^64 and a rest
      if (number > UINT64_MAX) break;
      const std::string unit = std::to_string(static_cast<uint64_t>(number)) + name;
      EXPECT_EQ(StatusOf(With("unit:" + unit)), Status::kNumberOutOfRange) << unit;
    }
}

TEST(ParseLayout, RefusesEpochsInAnotherForm) {
  for (const char* wrong : {"",
                            "Z",
                            "-",
                            "--1",
                            "-1-",
                            "+1",
                            "1-",
                            "1314220021721Z",
                            "-1314220021721Z",
                            "1314220021721.0",
                            "1314220021721ms",
                            "1314220021.721",
                            "1_314_220_021_721",
                            "1e3",
                            "0x1",
                            "99999999999999999999x",
                            "2011-08-24",
                            "2011-08-24Z",
                            "2011-08-24T21:07Z",
                            "2011-08-24T21:07:01",
                            "2011-08-24T21:07:01z",
                            "2011-08-24t21:07:01Z",
                            "2011-08-24_21:07:01Z",
                            "2011-08-24 21:07:01Z",
                            "2011/08/24T21:07:01Z",
                            "2011-08/24T21:07:01Z",
                            "2011-08-24T21.07:01Z",
                            "2011-08-24T21:07.01Z",
                            "2011-08-24T21:07:01.Z",
                            "2011-08-24T21:07:01,721Z",
                            "2011-08-24T21:07:01.7210000Z",
                            "2011-08-24T21:07:01.72100000000000000000000Z",
                            "2011-08-24T21:07:01.721",
                            "2011-08-24T21:07:01.721ZZ",
                            "2011-08-24T21:07:01.721Z.",
                            "2011-08-24T21:07:01+00Z",
                            "2011-08-24T21:07:01+00:00",
                            "2011-08-24T21:07:01.-21Z",
                            "2011-08-24T21:07:01.+21Z",
                            "2011-08-24T21:07:01..1Z",
                            "11-08-24T21:07:01Z",
                            "02011-08-24T21:07:01Z",
                            "10000-01-01T00:00:00Z",
                            "-001-01-01T00:00:00Z",
                            "-2011-08-24T21:07:01Z",
                            "+2011-08-24T21:07:01Z",
                            "+011-08-24T21:07:01Z",
                            "2011-8-24T21:07:01Z",
                            "2011-+8-24T21:07:01Z",
                            "2011-08--4T21:07:01Z",
                            "2011-08-4T21:07:01Z",
                            "2011-008-24T21:07:01Z",
                            "2011-08-024T21:07:01Z",
                            "2011-08-24T1:07:01Z",
                            "2011-08-24T021:07:01Z",
                            "2011-08-24T21:7:01Z",
                            "2011-08-24T21:07:1Z",
                            "2011-08-24T21:07:001Z",
                            "2011-08-24T-1:07:01Z",
                            "2011-08-24T21:+7:01Z",
                            "20110824T210701Z",
                            "2011-08-24T21:07:01.72aZ",
                            "2011-08-24T21:07:01 Z",
                            "2O11-08-24T21:07:01Z"})
    EXPECT_EQ(StatusOf(With("epoch:" + std::string(wrong))), Status::kMalformed) << wrong;
  EXPECT_EQ(StatusOf(With(std::string("epoch:2011-08-24T21:07:01\0Z", 27))), Status::kMalformed);
  EXPECT_EQ(StatusOf(With(std::string("epoch:2011-08-24T21:07:01Z\0", 27))), Status::kMalformed);
}

TEST(ParseLayout, RefusesEpochsThatNeverWere) {
  for (const char* wrong :
       {"0000-01-01T00:00:00Z", "0000-12-31T23:59:59.999999Z", "2011-00-24T21:07:01Z",
        "2011-13-24T21:07:01Z", "2011-99-24T21:07:01Z",        "2011-08-00T21:07:01Z",
        "2011-08-32T21:07:01Z", "2011-04-31T21:07:01Z",        "2011-06-31T21:07:01Z",
        "2011-09-31T21:07:01Z", "2011-11-31T21:07:01Z",        "2011-02-29T00:00:00Z",
        "2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z",        "2100-02-29T00:00:00Z",
        "2024-02-30T00:00:00Z", "2011-08-24T24:00:00Z",        "2011-08-24T99:00:00Z",
        "2011-08-24T21:60:00Z", "2011-08-24T21:07:60Z",        "2016-12-31T23:59:60Z",
        "2011-08-24T21:07:99Z", "9999-12-32T00:00:00Z",        "9999-12-31T24:00:00Z"})
    EXPECT_EQ(StatusOf(With("epoch:" + std::string(wrong))), Status::kNumberOutOfRange) << wrong;
}

// Those that would be in range if they were cut to 64 bits are among them, as their product is.
TEST(ParseLayout, RefusesUnixMillisecondsOutsideTheYears) {
  for (const char* wrong :
       {"-62135596800001", "253402300800000", "-253402300799999", "9223372036854775807",
        "-9223372036854775808", "9223372036854775808", "18446744073709551", "18446744073709552",
        "-18446744073709552", "18446744073709551615", "-18446744073709551615",
        "18446744073709551616", "-18446744073709551617", "18448058293731273",
        "100000000000000000000000000000000000001"})
    EXPECT_EQ(StatusOf(With("epoch:" + std::string(wrong))), Status::kNumberOutOfRange) << wrong;
}

// The first part that is wrong is named, or what the whole lacks; and where it is.
TEST(ParseLayout, NamesThePartThatIsWrong) {
  struct {
    std::string text;
    LayoutFault fault;
    std::string part;
    size_t at;
  } const kCases[] = {
      {"twiter", LayoutFault::kUnknownName, "twiter", 0},
      {"  Twitter ", LayoutFault::kUnknownName, "Twitter", 2},
      {"", LayoutFault::kUnknownName, "", 0},
      {"time:41 twitter", LayoutFault::kUnknownPart, "twitter", 8},
      {"twitter time:41", LayoutFault::kUnknownPart, "twitter", 0},
      {"time:41 shrd:13 seq:x", LayoutFault::kUnknownPart, "shrd:13", 8},
      {" time:41  seq:12 time:41", LayoutFault::kDoubledPart, "time:41", 17},
      {"time:4x shard:13", LayoutFault::kWidthForm, "time:4x", 0},
      {"shard:", LayoutFault::kWidthForm, "shard:", 0},
      {With("time:0"), LayoutFault::kTimeWidth, "time:0", 0},
      {With("time:64"), LayoutFault::kTimeWidth, "time:64", 0},
      {With("shard:64"), LayoutFault::kWidth, "shard:64", 8},
      {With("seq:18446744073709551616"), LayoutFault::kWidth, "seq:18446744073709551616", 17},
      {With("unit:1m"), LayoutFault::kUnitForm, "unit:1m", 24},
      {With("unit:2d"), LayoutFault::kUnitRange, "unit:2d", 24},
      {With("epoch:2011-08-24"), LayoutFault::kEpochForm, "epoch:2011-08-24", 33},
      {With("epoch:253402300800000"), LayoutFault::kEpochRange, "epoch:253402300800000", 33},
      // Of two the first from the left; before what is missing, and the sum.
      {"unit:2d seq:x", LayoutFault::kUnitRange, "unit:2d", 0},
      {"seq:x unit:2d", LayoutFault::kWidthForm, "seq:x", 0},
      {With("time:42") + " seq:1", LayoutFault::kDoubledPart, "seq:1", With("time:42").size() + 1},
  };
  for (const auto& [text, fault, part, at] : kCases) {
    LayoutSpec spec = kInstagram.spec;
    const LayoutError error = parse_layout(text, &spec);
    EXPECT_EQ(error.fault, fault) << text;
    EXPECT_EQ(error.part, part) << text;
    EXPECT_EQ(static_cast<size_t>(error.part.data() - text.data()), at) << text;
    EXPECT_EQ(spec, kInstagram.spec) << text;
  }
  for (const std::string& word : kWords) {
    std::vector<std::string> fewer = kWords;
    std::erase(fewer, word);
    LayoutSpec spec{};
    const std::string text = Joined(fewer);
    const LayoutError error = parse_layout(text, &spec);
    EXPECT_EQ(error.fault, LayoutFault::kMissingPart) << text;
    EXPECT_EQ(std::string(error.part) + ":", word.substr(0, word.find(':') + 1)) << text;
  }
  LayoutSpec spec{};
  EXPECT_EQ(parse_layout(With("seq:11"), &spec).fault, LayoutFault::kSum);
}

}  // namespace
}  // namespace snowid::core::test
