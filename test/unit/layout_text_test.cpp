// Tests of core/layout_text.hpp: the layouts of the field by name, texts as they are written, and
// texts of every other kind.
#include "core/layout_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "layouts.hpp"
#include "random.hpp"

namespace snowid::core::test {
namespace {

using std::chrono::sys_days;
using namespace std::chrono_literals;

constexpr const char* kInstagramText =
    "time:41 shard:13 seq:10 unit:1ms epoch:2011-08-24T21:07:01.721Z";

// From memory of just the text's size, so that the address sanitizer sees a read past it.
LayoutFault Parse(std::string_view text, LayoutSpec* spec) {
  const std::vector<char> exact(text.begin(), text.end());
  return parse_layout({exact.data(), exact.size()}, spec).fault;
}

LayoutSpec Parsed(std::string_view text) {
  LayoutSpec spec{};
  EXPECT_EQ(Parse(text, &spec), LayoutFault::kNone) << text;
  EXPECT_TRUE(is_valid(spec)) << text;
  EXPECT_EQ(spec, canonical(spec)) << text;
  return spec;
}

// Calls format, one of the two, and checks that it keeps to its buffer.
template <typename Format>
std::string Written(const LayoutSpec& spec, Format format) {
  char text[kLayoutTextSize + 16];
  std::memset(text, '#', sizeof text);
  const size_t length = format(spec, text);
  EXPECT_LE(length, kLayoutTextSize);
  for (size_t i = length; i < sizeof text; i++) EXPECT_EQ(text[i], '#') << i;
  return {text, length};
}

std::string SpecText(const LayoutSpec& spec) { return Written(spec, format_layout_spec); }
std::string Text(const LayoutSpec& spec) { return Written(spec, format_layout); }

constexpr int64_t micros_of(std::chrono::sys_time<std::chrono::milliseconds> moment) {
  return std::chrono::microseconds(moment.time_since_epoch()).count();
}

struct FieldLayout {
  const char* name;
  const char* text;
  int64_t epoch_ms;
};

constexpr FieldLayout kField[] = {
    {"instagram", kInstagramText, 1314220021721},
    {"twitter", "time:41 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z", 1288834974657},
    {"discord", "time:41 shard:10 seq:12 unit:1ms epoch:2015-01-01T00:00:00Z", 1420070400000},
    {"leaf", "time:41 shard:10 seq:12 unit:1ms epoch:2010-11-04T01:42:54.657Z", 1288834974657},
    {"sonyflake", "time:39 seq:8 shard:16 unit:10ms epoch:2014-09-01T00:00:00Z", 1409529600000},
    {"sonyflake2", "time:39 seq:8 shard:16 unit:10ms epoch:2025-01-01T00:00:00Z", 1735689600000},
    {"baidu", "time:28 shard:22 seq:13 unit:1s epoch:2016-05-19T16:00:00Z", 1463673600000},
    {"pgedge", "time:41 shard:10 seq:12 unit:1ms epoch:2023-01-01T00:00:00Z", 1672531200000},
    {"taobao", "time:49 shard:4 seq:10 unit:1ms epoch:2013-02-25T00:55:41.828Z", 1361753741828},
    {"seata", "shard:10 time:41 seq:12 unit:1ms epoch:2020-05-02T16:00:00Z", 1588435200000},
    {"yitter", "time:51 shard:6 seq:6 unit:1ms epoch:2020-02-19T18:20:02Z", 1582136402000},
    {"mastodon", "time:48 shard:0 seq:16 unit:1ms epoch:1970-01-01T00:00:00Z", 0},
    {"linkedin", "time:41 shard:0 seq:22 unit:1ms epoch:1970-01-01T00:00:00Z", 0},
    {"tiktok", "time:32 shard:0 seq:32 unit:1s epoch:1970-01-01T00:00:00Z", 0},
    {"bluesky", "time:53 shard:10 seq:0 unit:1us epoch:1970-01-01T00:00:00Z", 0},
};

TEST(NamedLayouts, AreThoseOfTheField) {
  for (const FieldLayout& field : kField) {
    const LayoutSpec spec = Parsed(field.name);
    EXPECT_EQ(spec.epoch_us, field.epoch_ms * 1000) << field.name;
    EXPECT_EQ(SpecText(spec), field.text);
    EXPECT_EQ(Parsed(field.text), spec);
    const std::string name = std::string_view(field.name) == "leaf" ? "twitter" : field.name;
    EXPECT_EQ(unit_name(spec), name);
    EXPECT_EQ(Text(spec), name);
  }
  EXPECT_EQ(Parsed("instagram"), kInstagram.spec);
  EXPECT_EQ(Parsed("leaf"), Parsed("twitter"));
}

TEST(NamedLayouts, AreValidAndReadBack) {
  EXPECT_EQ(std::size(kNamedLayouts), std::size(kField) + 1);
  for (const NamedLayout& named : kNamedLayouts) {
    EXPECT_TRUE(is_valid(named.spec)) << named.name;
    EXPECT_EQ(named.spec, canonical(named.spec)) << named.name;
    EXPECT_EQ(Parsed(named.name), named.spec) << named.name;
    EXPECT_EQ(Parsed(SpecText(named.spec)), named.spec) << named.name;
    EXPECT_EQ(Parsed(Text(named.spec)), named.spec) << named.name;
  }
}

TEST(NamedLayouts, EndWhenTheFieldSays) {
  const auto end_of = [](const char* name) { return make_layout(Parsed(name)).end.value; };
  EXPECT_EQ(end_of("instagram"), micros_of(sys_days(2046y / 6 / 27) + 17h + 49497ms));
  EXPECT_EQ(end_of("baidu"), micros_of(sys_days(2024y / 11 / 20) + 13h + 24min + 16s));
  EXPECT_GE(end_of("twitter"), micros_of(sys_days(2080y / 7 / 10)));
  EXPECT_LT(end_of("twitter"), micros_of(sys_days(2080y / 7 / 11)));
}

TEST(NamedLayouts, GiveTheFieldsVectors) {
  EXPECT_EQ(compose(make_layout(Parsed("instagram")), {{1387263000}, {1341}, {5001 % 1024}}).value,
            11637205501278089);
  EXPECT_EQ(compose(make_layout(Parsed("instagram")), {{1992325551}, {0}, {0}}).value,
            16712838055723008);
  Id id{};
  const UnixMicros moment{micros_of(sys_days(2018y / 6 / 9) + 10h)};
  ASSERT_EQ(encode(make_layout(Parsed("discord")), moment, 786, 0, &id), Status::kOk);
  EXPECT_EQ(id.value, 454947766275219456);
  ASSERT_EQ(encode(make_layout(Parsed("discord")), moment, 786, 3450, &id), Status::kOk);
  EXPECT_EQ(id.value, 454947766275222906);
  // The sequence is above the machine, and all positive bigints are used.
  const Layout sonyflake = make_layout(Parsed("sonyflake"));
  EXPECT_EQ(compose(sonyflake, {{5}, {7}, {3}}).value, (5 << 24) + (3 << 16) + 7);
  EXPECT_EQ(sonyflake.max_id.value, INT64_MAX);
}

// IDs that their makers, or those who have read them, give together with the time.
TEST(NamedLayouts, ReadPublishedIds) {
  const struct {
    const char* layout;
    int64_t id;
    std::chrono::sys_time<std::chrono::microseconds> time;
    uint64_t shard;
    uint64_t sequence;
  } kPublished[] = {
      {"instagram", 2384288897814875714, sys_days(2020y / 8 / 26) + 13h + 43min + 27313ms, 2675,
       578},
      {"twitter", 1233161576649121792, sys_days(2020y / 2 / 27) + 22h + 46min + 45564ms, 334, 0},
      {"discord", 175928847299117063, sys_days(2016y / 4 / 30) + 11h + 18min + 25796ms, 32, 7},
      {"sonyflake2", 61926663650345416, sys_days(2026y / 3 / 4) + 5h + 6min + 7890ms, 456, 1},
      {"mastodon", 103270115826048975, sys_days(2019y / 12 / 8) + 3h + 48min + 33849ms, 0, 40911},
      {"linkedin", 7402746946853253120, sys_days(2025y / 12 / 5) + 16h + 33min + 28517ms, 0,
       765952},
      {"tiktok", 6854717870488702213, sys_days(2020y / 7 / 29) + 2h + 6min + 13s, 0, 3657452805},
      // The TID 3jzfcijpj2z2a.
      {"bluesky", 1728652679052295174, sys_days(2023y / 6 / 30) + 15h + 3min + 1887007us, 6, 0},
      // Documented as made by worker 1 after a year, with the first sequence that is used, 11.
      {"yitter", 129053495681099, sys_days(2021y / 2 / 18) + 10h + 20min + 3094ms, 1, 11},
  };
  for (const auto& [name, id, time, shard, sequence] : kPublished) {
    const Layout layout = make_layout(Parsed(name));
    Parts parts{};
    ASSERT_EQ(decompose(layout, {id}, &parts), Status::kOk) << name;
    EXPECT_EQ(start_of(layout, parts.time).value, time.time_since_epoch().count()) << name;
    EXPECT_EQ(parts.shard.value, shard) << name;
    EXPECT_EQ(parts.sequence.value, sequence) << name;
    EXPECT_EQ(compose(layout, parts).value, id) << name;
  }
  // Of Seata there is only how it puts the parts together.
  EXPECT_EQ(compose(make_layout(Parsed("seata")), {{5}, {7}, {3}}).value,
            (int64_t{7} << 53) + (5 << 12) + 3);
}

TEST(NamedLayouts, Js53StaysWithinJavaScriptsNumbers) {
  const Layout js53 = make_layout(Parsed("js53"));
  EXPECT_EQ(js53.max_id.value, (int64_t{1} << 53) - 1);
  EXPECT_EQ(greatest_id_of(js53, js53.max_time).value, (int64_t{1} << 53) - 1);
  EXPECT_LE(js53.epoch.value, micros_of(sys_days(2026y / 1 / 1)));
  EXPECT_GE(js53.end.value, micros_of(sys_days(2056y / 1 / 1)));
  EXPECT_EQ(unit_name(js53.spec), "js53");
}

TEST(NameOf, IsEmptyForEveryOtherLayout) {
  for (const NamedLayout& named : kNamedLayouts) {
    std::vector<ChangedSpec> others(6, ChangedSpec(named.spec));
    others[0].epoch_us++;
    others[1].unit_us++;
    others[2].time_bits--;
    others[3].shard_bits += others[3].shard_bits > 0 ? -1 : 1;
    others[4].seq_bits += others[4].seq_bits > 0 ? -1 : 1;
    others[5].order = 5;
    for (const ChangedSpec& other : others) EXPECT_EQ(unit_name(other.Made()), "") << named.name;
  }
  Random random(1);
  for (int i = 0; i < 1000; i++) EXPECT_EQ(unit_name(RandomSpec(&random)), "");
}

// What a layout's text is to be, put together in another way.
std::string ExactText(const LayoutSpec& spec) {
  std::string text;
  for (const ExactField& field : ExactFields(spec).fields) {
    text += field.letter == 'T' ? "time:" : field.letter == 'H' ? "shard:" : "seq:";
    text += std::to_string(field.bits) + " ";
  }
  constexpr struct {
    const char* name;
    uint64_t us;
  } kUnits[] = {{"d", 86400000000}, {"h", 3600000000}, {"min", 60000000},
                {"s", 1000000},     {"ms", 1000},      {"us", 1}};
  for (const auto& [name, us] : kUnits) {
    if (spec.unit_us() % us != 0) continue;
    text += "unit:" + std::to_string(spec.unit_us() / us) + name;
    break;
  }
  const std::chrono::sys_time<std::chrono::microseconds> epoch{
      std::chrono::microseconds(spec.epoch_us)};
  const auto day = std::chrono::floor<std::chrono::days>(epoch);
  const std::chrono::year_month_day date(day);
  const int64_t us = (epoch - day).count();
  const auto put = [&](char before, int64_t number, int digits) {
    const std::string zeros = std::to_string(number + 1000000);
    text += before + zeros.substr(zeros.size() - static_cast<size_t>(digits));
  };
  text += " epoch";
  put(':', static_cast<int>(date.year()), 4);
  put('-', static_cast<unsigned>(date.month()), 2);
  put('-', static_cast<unsigned>(date.day()), 2);
  put('T', us / 3600000000, 2);
  put(':', us / 60000000 % 60, 2);
  put(':', us / 1000000 % 60, 2);
  if (us % 1000 != 0)
    put('.', us % 1000000, 6);
  else if (us % 1000000 != 0)
    put('.', us / 1000 % 1000, 3);
  return text + "Z";
}

TEST(LayoutText, OfRandomSpecificationsIsCanonicalAndReadBack) {
  constexpr int kSpecs = 50000;
  Random random(2);
  size_t longest = 0;
  for (int i = 0; i < kSpecs; i++) {
    const LayoutSpec spec = RandomSpec(&random);
    const std::string text = SpecText(spec);
    longest = std::max(longest, text.size());
    LayoutSpec back{};
    if (text != ExactText(spec) || Text(spec) != text || Parse(text, &back) != LayoutFault::kNone ||
        back != spec)
      FAIL() << text << " instead of " << ExactText(spec);
  }
  EXPECT_LT(longest, kLayoutTextSize);
}

TEST(LayoutText, WritesTheLargestUnitThatDivides) {
  const auto unit_of = [](uint64_t us) {
    const std::string text = SpecText({0, us, 41, 13, 10, 0});
    const size_t start = text.find("unit:") + 5;
    return text.substr(start, text.find(' ', start) - start);
  };
  EXPECT_EQ(unit_of(1), "1us");
  EXPECT_EQ(unit_of(999), "999us");
  EXPECT_EQ(unit_of(1000), "1ms");
  EXPECT_EQ(unit_of(1001), "1001us");
  EXPECT_EQ(unit_of(1500000), "1500ms");
  EXPECT_EQ(unit_of(59000000), "59s");
  EXPECT_EQ(unit_of(60000000), "1min");
  EXPECT_EQ(unit_of(90000000), "90s");
  EXPECT_EQ(unit_of(3600000000), "1h");
  EXPECT_EQ(unit_of(5400000000), "90min");
  EXPECT_EQ(unit_of(82800000000), "23h");
  EXPECT_EQ(unit_of(86400000000), "1d");
  EXPECT_EQ(unit_of(86399999999), "86399999999us");
}

TEST(LayoutText, WritesNoMoreOfTheEpochThanThereIs) {
  const auto epoch_of = [](int64_t us) {
    const std::string text = SpecText({us, 1000, 41, 13, 10, 0});
    return text.substr(text.find("epoch:") + 6);
  };
  EXPECT_EQ(epoch_of(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(epoch_of(1), "1970-01-01T00:00:00.000001Z");
  EXPECT_EQ(epoch_of(1000), "1970-01-01T00:00:00.001Z");
  EXPECT_EQ(epoch_of(100000), "1970-01-01T00:00:00.100Z");
  EXPECT_EQ(epoch_of(100010), "1970-01-01T00:00:00.100010Z");
  EXPECT_EQ(epoch_of(-1), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(epoch_of(kFirstEpoch.value), "0001-01-01T00:00:00Z");
  EXPECT_EQ(epoch_of(kFirstEpoch.value + 1000), "0001-01-01T00:00:00.001Z");
  EXPECT_EQ(epoch_of(kLastEpoch.value), "9999-12-31T23:59:59.999999Z");
  EXPECT_EQ(epoch_of(951782400000000), "2000-02-29T00:00:00Z");
}

// Where a shard without bits is said to lie makes no difference, in the value or in what is
// written.
TEST(LayoutText, ShardWithoutBitsIsOneLayoutWhereverItLies) {
  const std::string rest = " unit:1ms epoch:1970-01-01T00:00:00Z";
  for (const char* fields : {"shard:0 time:41 seq:22", "time:41 shard:0 seq:22",
                             "time:41 seq:22 shard:0", "time:041 seq:022 shard:000"}) {
    EXPECT_EQ(Parsed(fields + rest), Parsed("time:41 shard:0 seq:22" + rest)) << fields;
    EXPECT_EQ(SpecText(Parsed(fields + rest)), SpecText(Parsed("time:41 shard:0 seq:22" + rest)));
  }
  EXPECT_EQ(Parsed("shard:0 seq:22 time:41" + rest), Parsed("seq:22 time:41 shard:0" + rest));
  EXPECT_NE(Parsed("seq:22 time:41 shard:0" + rest), Parsed("time:41 seq:22 shard:0" + rest));
}

// So does where a sequence without bits is said to lie.
TEST(LayoutText, SequenceWithoutBitsIsOneLayoutWhereverItLies) {
  const std::string rest = " unit:1ms epoch:1970-01-01T00:00:00Z";
  const auto expect_same = [&](const std::string& text, std::initializer_list<const char*> others) {
    EXPECT_EQ(SpecText(Parsed(text + rest)), text + rest);
    for (const char* other : others) EXPECT_EQ(Parsed(other + rest), Parsed(text + rest)) << other;
  };
  expect_same("time:41 shard:22 seq:0", {"time:41 seq:0 shard:22", "seq:0 time:41 shard:22"});
  expect_same("shard:22 time:41 seq:0", {"shard:22 seq:0 time:41", "seq:0 shard:22 time:41"});
  expect_same("time:41 shard:0 seq:0",
              {"time:41 seq:0 shard:0", "seq:0 time:41 shard:0", "seq:0 shard:0 time:41",
               "shard:0 time:41 seq:0", "shard:0 seq:0 time:41"});
  EXPECT_NE(Parsed("shard:22 time:41 seq:0" + rest), Parsed("time:41 shard:22 seq:0" + rest));
}

}  // namespace
}  // namespace snowid::core::test
