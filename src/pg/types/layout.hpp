// Layouts as arguments of SQL functions. Belongs to one process; nothing here is shared.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"
#include "pg/values.hpp"

namespace snowid::pg {

// A value of the SQL type snowid_layout, as it is stored: valid and canonical.
inline const core::LayoutSpec& layout_spec_arg(FunctionCallInfo fcinfo, int number) {
  return struct_arg<core::LayoutSpec>(fcinfo, number);
}

// Such an argument, ready to compute with: cached in fn_extra, once for all calls of a statement
// with the same layout. It is valid until the next call of the function. Requires: the function
// uses fn_extra for nothing else, and takes one layout.
const core::Layout& layout_of_call(FunctionCallInfo fcinfo, const core::LayoutSpec& spec);
inline const core::Layout& layout_arg(FunctionCallInfo fcinfo, int number) {
  const core::LayoutSpec& spec = layout_spec_arg(fcinfo, number);
  return spec == core::kInstagram.spec ? core::kInstagram : layout_of_call(fcinfo, spec);
}

// The text form of a layout, as a C string in the current memory context.
char* layout_text(const core::LayoutSpec& spec);

}  // namespace snowid::pg
