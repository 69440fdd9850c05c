// Layouts as arguments of SQL functions. Belongs to one process; nothing here is shared.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// A value of the SQL type snowid_layout, as it is stored: valid and canonical.
inline const core::LayoutSpec& layout_spec_arg(FunctionCallInfo fcinfo, int number) {
  return *reinterpret_cast<const core::LayoutSpec*>(PG_GETARG_POINTER(number));
}

// The layout that layout_of() made last, so that a constant argument is made ready only once.
extern core::Layout recent_layout;

// A layout, ready to compute with. Holds until the next call: it is not copied, since that would
// cost each call that reads an ID. So nobody keeps it beyond a row, and none takes two layouts.
inline const core::Layout& layout_of(const core::LayoutSpec& spec) {
  if (spec == core::kInstagram.spec) return core::kInstagram;
  if (!(spec == recent_layout.spec)) recent_layout = core::make_layout(spec);
  return recent_layout;
}

// An argument of that type, ready to compute with. Holds as long.
inline const core::Layout& layout_arg(FunctionCallInfo fcinfo, int number) {
  return layout_of(layout_spec_arg(fcinfo, number));
}

// The text form of a layout, as a C string in the current memory context.
char* layout_text(const core::LayoutSpec& spec);

}  // namespace snowid::pg
