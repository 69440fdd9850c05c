// Fuzzes the layouts of core/layout_text.hpp: any bytes as a text, and their first sixteen as a
// specification.
#include <cstring>
#include <vector>

#include "../unit/layout_reading.hpp"
#include "fuzz.hpp"

namespace snowid::core::test {
namespace {

bool IsReadAs(std::string_view text, const LayoutSpec& spec) {
  const std::vector<char> exact(text.begin(), text.end());
  LayoutSpec back{};
  return parse_layout({exact.data(), exact.size()}, &back).fault == LayoutFault::kNone &&
         back == spec;
}

void CheckSpec(const LayoutSpec& spec) {
  char written[kLayoutTextSize];
  const size_t spec_length = format_layout_spec(spec, written);
  Require(spec_length < kLayoutTextSize, "the longest text is shorter than its buffer");
  Require(IsReadAs({written, spec_length}, spec), "a specification is read as the same layout");
  const LayoutReading reading = ReadLayout({written, spec_length});
  Require(reading.Allows(LayoutFault::kNone) && reading.spec == spec,
          "a specification is that layout's");
  const size_t length = format_layout(spec, written);
  Require(IsReadAs({written, length}, spec), "what is written is read as the same layout");
}

void CheckText(std::string_view text) {
  LayoutSpec spec{};
  const LayoutError error = parse_layout(text, &spec);
  const LayoutReading reading = ReadLayout(text);
  Require(reading.Allows(error.fault), "a text is what its words make it");
  if (error.fault != LayoutFault::kNone) {
    Require(error.fault == LayoutFault::kSum || error.fault == LayoutFault::kMissingPart ||
                (error.part.data() >= text.data() &&
                 error.part.data() + error.part.size() <= text.data() + text.size()),
            "the part that is wrong is one of the text");
    return;
  }
  Require(spec == reading.spec, "the layout is the one that the words tell");
  Require(is_valid(spec), "only valid layouts are read");
  CheckSpec(spec);
}

}  // namespace

void Check(std::string_view input) {
  CheckText(input);
  LayoutSpec spec;
  if (input.size() < sizeof spec) return;
  std::memcpy(&spec, input.data(), sizeof spec);
  if (is_valid(spec)) CheckSpec(canonical(spec));
}

}  // namespace snowid::core::test
