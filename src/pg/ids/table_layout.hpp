// Which layout the IDs of a table have, by the defaults of its columns. Called by
// snowid_watermark() for a table and each of its partitions. Belongs to one process; nothing here
// is shared.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"

namespace snowid::pg {

// The layouts found in the defaults of bigint columns.
struct DefaultLayout {
  bool has_layout;  // one makes IDs, of `layout`
  bool is_mixed;    // they make IDs of several layouts, or one names its layout by an expression
  bool is_other;    // one makes a number in another way: a sequence's, or a function's
  core::LayoutSpec layout;
};

// Adds those of the defaults of one relation, and of the domains of its columns. layout: begins
// with all bytes zero. Locks nothing.
void default_layout_add(Oid relid, DefaultLayout* layout);

// Called by module.cpp.
void on_relcache_table_layout(Oid relid);

}  // namespace snowid::pg
