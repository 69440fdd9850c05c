// Fuzzes core/text.hpp: any bytes as a text, and their first eight as an ID.
#include "core/text.hpp"

#include <algorithm>
#include <cstring>

#include "fuzz.hpp"

namespace snowid::core::test {
namespace {

constexpr std::string_view kGreatest = "LygHa16AHYF";

bool is_digit(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= 'a' && letter <= 'z');
}

bool IsText(std::string_view text) {
  return text.size() == kTextLength && std::all_of(text.begin(), text.end(), is_digit);
}

void CheckText(std::string_view text) {
  Id id{};
  const Status status = parse_text(text, &id);
  const Status expected = !IsText(text)      ? Status::kMalformed
                          : text > kGreatest ? Status::kNumberOutOfRange
                                             : Status::kOk;
  Require(status == expected, "a text is what has eleven digits and is not above the greatest");
  if (status == Status::kOk) Require(format_text(id).view_of() == text, "an ID has one text");
}

void CheckId(int64_t value) {
  const IdText text = format_text({value});
  Require(IsText(text.view_of()), "what is written has the form of a text");
  Id back{};
  Require(parse_text(text.view_of(), &back) == Status::kOk, "what is written can be read");
  Require(back.value == value, "what is written is read as the same ID");
  if (value == INT64_MAX) return;
  Require(text.view_of() < format_text({value + 1}).view_of(), "texts are in the order of the IDs");
}

}  // namespace

void Check(std::string_view input) {
  CheckText(input);
  int64_t value;
  if (input.size() < sizeof value) return;
  std::memcpy(&value, input.data(), sizeof value);
  CheckId(value);
}

}  // namespace snowid::core::test
