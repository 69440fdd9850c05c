// Layouts as arguments of SQL functions. Belongs to one process; nothing is shared.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "pg/values.hpp"

namespace snowid::pg {

// A stored value: valid and canonical.
inline const core::LayoutSpec& layout_spec_arg(FunctionCallInfo fcinfo, int number) {
  return struct_arg<core::LayoutSpec>(fcinfo, number);
}

// The layout of such an argument, cached in fn_extra for a statement's calls with the same one.
// Valid until the next call. Requires: the function has one layout, and no other use of fn_extra.
const core::Layout& layout_of_call(FunctionCallInfo fcinfo, const core::LayoutSpec& spec);
inline const core::Layout& layout_arg(FunctionCallInfo fcinfo, int number) {
  const core::LayoutSpec& spec = layout_spec_arg(fcinfo, number);
  return spec == core::kInstagram.spec ? core::kInstagram : layout_of_call(fcinfo, spec);
}

// In the current memory context.
char* layout_text(const core::LayoutSpec& spec);

}  // namespace snowid::pg
