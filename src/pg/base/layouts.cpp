// Reading layouts from arguments. See layouts.hpp.
#include "pg/base/layouts.hpp"

namespace snowid::pg {

core::Layout recent_layout = core::kInstagram;

char* layout_text(const core::LayoutSpec& spec) {
  char text[core::kLayoutTextSize];
  return pnstrdup(text, core::FormatLayout(spec, text));
}

}  // namespace snowid::pg
