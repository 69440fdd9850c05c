// Fuzzes core/objectid.hpp: any bytes as a text, and their first twelve as an ObjectID.
#include "core/objectid.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "fuzz.hpp"

namespace snowid::core::test {
namespace {

bool IsHex(unsigned char letter) { return letter < 128 && std::isxdigit(letter); }

void CheckText(std::string_view text) {
  ObjectId id{};
  const bool is_text =
      text.size() == kObjectIdDigits && std::all_of(text.begin(), text.end(), IsHex);
  const Status status = parse_object_id(text, &id);
  Require(status == (is_text ? Status::kOk : Status::kMalformed),
          "24 digits are read, and no else");
  if (!is_text) return;
  char again[kObjectIdDigits];
  format_object_id(id, again);
  Require(std::equal(text.begin(), text.end(), again,
                     [](unsigned char a, char b) { return std::tolower(a) == b; }),
          "what is read is written as it was, in lower case");
}

void CheckBytes(const ObjectId& id) {
  char text[kObjectIdDigits];
  format_object_id(id, text);
  ObjectId back{};
  Require(parse_object_id({text, sizeof text}, &back) == Status::kOk,
          "what is written can be read");
  Require(back == id, "what is written is read as the same ObjectID");
}

}  // namespace

void Check(std::string_view input) {
  CheckText(input);
  ObjectId id;
  if (input.size() < sizeof id) return;
  std::memcpy(&id, input.data(), sizeof id);
  CheckBytes(id);
}

}  // namespace snowid::core::test
