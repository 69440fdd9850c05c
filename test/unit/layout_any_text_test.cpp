// Tests of core/layout_text.hpp with any text, right and wrong, held against a reading word by
// word.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/layout_text.hpp"
#include "layout_reading.hpp"
#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

constexpr const char* kInstagramText =
    "time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z";

// Parses any text and holds it against the reading; what parses is written and read back the same.
void CheckText(std::string_view text) {
  LayoutSpec spec{};
  const LayoutFault fault = Parse(text, &spec);
  const LayoutReading reading = ReadLayout(text);
  ASSERT_TRUE(reading.Allows(fault)) << text << ": " << static_cast<int>(fault);
  if (fault != LayoutFault::kNone) return;
  ASSERT_EQ(spec, reading.spec) << text;
  ASSERT_TRUE(is_valid(spec)) << text;
  char written[kLayoutTextSize];
  LayoutSpec back{};
  ASSERT_EQ(Parse({written, format_layout(spec, written)}, &back), LayoutFault::kNone) << text;
  ASSERT_EQ(back, spec) << text;
  ASSERT_EQ(Parse({written, format_layout_spec(spec, written)}, &back), LayoutFault::kNone) << text;
  ASSERT_EQ(back, spec) << text;
}

TEST(ParseLayout, AnyOtherCharacterAnywhere) {
  std::vector<std::string> texts{std::string(kInstagramText),
                                 "seq:01 time:63 epoch:0001-02-28T00:00:00Z unit:1d shard:0",
                                 "time:41 shard:13 seq:10 unit:1ms epoch:-62135596800000"};
  for (const NamedLayout& named : kNamedLayouts) texts.emplace_back(named.name);
  for (const std::string& text : texts)
    for (size_t at = 0; at <= text.size(); at++) {
      for (int code = 0; code < 256; code++) {
        std::string mutant = text;
        mutant.insert(at, 1, static_cast<char>(code));
        CheckText(mutant);
        if (at < text.size()) CheckText(mutant.erase(at + 1, 1));
      }
      CheckText(text.substr(0, at));
      CheckText(text.substr(at));
      if (at < text.size()) CheckText(std::string(text).erase(at, 1));
      if (testing::Test::HasFatalFailure()) return;
    }
}

// A word that says something of the specification, in one of many ways, not all of them right.
std::string RandomWord(const LayoutSpec& spec, int field, Random* random) {
  const std::string zeros(random->Below(4) == 0 ? random->Below(4) : 0, '0');
  const auto width = [&](uint64_t bits) {
    return zeros + std::to_string(random->Below(32) == 0 ? random->UpTo(UINT64_MAX) : bits);
  };
  constexpr struct {
    const char* name;
    uint64_t us;
  } kUnits[] = {{"d", 86400000000}, {"h", 3600000000}, {"min", 60000000},
                {"s", 1000000},     {"ms", 1000},      {"us", 1}};
  if (field == 0) return "time:" + width(spec.time_bits());
  if (field == 1) return "shard:" + width(spec.shard_bits());
  if (field == 2) return "seq:" + width(spec.seq_bits());
  if (field == 3) {
    const auto& [name, us] = kUnits[random->Below(6)];
    return "unit:" + width(spec.unit_us() / us) + name;
  }
  if (random->Below(4) == 0) {
    const int64_t ms =
        random->Below(8) == 0 ? static_cast<int64_t>(random->Next()) : spec.epoch_us / 1000;
    return "epoch:" + std::to_string(ms);
  }
  char written[kLayoutTextSize];
  std::string epoch(written, format_layout_spec(spec, written));
  epoch = epoch.substr(epoch.find("epoch:"));
  epoch.pop_back();
  const size_t shorter = std::string_view("epoch:2011-08-24T21:07:01.").size() + random->Below(7);
  epoch = epoch.substr(0, shorter) + "Z";
  if (random->Below(4) == 0) {
    const size_t digit = 6 + random->Below(epoch.size() - 6);
    if (epoch[digit] >= '0' && epoch[digit] <= '9')
      epoch[digit] = static_cast<char>('0' + random->Below(10));
  }
  return epoch;
}

TEST(ParseLayout, WordsOfAllKinds) {
  constexpr int kCases = 60000;
  Random random(2);
  int read = 0;
  for (int i = 0; i < kCases; i++) {
    const LayoutSpec spec = RandomSpec(&random);
    std::vector<std::string> words;
    for (int field = 0; field < 5; field++) {
      words.push_back(RandomWord(spec, field, &random));
      std::swap(words.back(), words[random.Below(words.size())]);
    }
    if (random.Below(32) == 0) words.push_back(RandomWord(spec, int(random.Below(5)), &random));
    if (random.Below(32) == 0) words.pop_back();
    std::string text;
    for (const std::string& word : words) text += word + (random.Below(8) == 0 ? " \n " : " ");
    CheckText(text);
    if (testing::Test::HasFatalFailure()) return;
    LayoutSpec back{};
    read += Parse(text, &back) == LayoutFault::kNone;
  }
  EXPECT_GT(read, kCases / 4);
  EXPECT_LT(read, kCases * 3 / 4);
}

}  // namespace
}  // namespace snowid::core::test
