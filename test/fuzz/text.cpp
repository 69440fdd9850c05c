// Fuzzes core/text.hpp: any bytes as a text, and their first eight as an ID.
#include "core/text.hpp"

#include <algorithm>
#include <cstring>

#include "fuzz.hpp"

namespace snowid::core::test {
namespace {

constexpr std::string_view kGreatest = "LygHa16AHYF";

bool IsDigit(char letter) {
  return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= 'a' && letter <= 'z');
}

bool IsText(std::string_view text) {
  return text.size() == kTextLength && std::all_of(text.begin(), text.end(), IsDigit);
}

void CheckText(std::string_view text) {
  Id id{};
  const Status status = ParseText(text, &id);
  const Status expected = !IsText(text)      ? Status::kMalformed
                          : text > kGreatest ? Status::kNumberOutOfRange
                                             : Status::kOk;
  Require(status == expected, "a text is what has eleven digits and is not above the greatest");
  if (status == Status::kOk) Require(FormatText(id).View() == text, "an ID has one text");
}

void CheckId(int64_t value) {
  const IdText text = FormatText({value});
  Require(IsText(text.View()), "what is written has the form of a text");
  Id back{};
  Require(ParseText(text.View(), &back) == Status::kOk, "what is written can be read");
  Require(back.value == value, "what is written is read as the same ID");
  if (value == INT64_MAX) return;
  Require(text.View() < FormatText({value + 1}).View(), "texts are in the order of the IDs");
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
