// The layout of a table's IDs, by its columns' defaults: for snowid_watermark(), of a table and
// each of its partitions.
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"

namespace snowid::pg {

// The layouts in the defaults of bigint columns.
struct DefaultLayout {
  bool has_layout;  // a default generates IDs of `layout`
  bool is_mixed;    // several layouts, or one not given as a constant
  bool is_other;    // a default is another sequence or function
  core::LayoutSpec layout;
};

// Adds those of a relation's defaults, including its columns' domains. layout: zeroed at first.
// Locks nothing.
void default_layout_add(Oid relid, DefaultLayout* layout);

// Called by module.cpp.
void on_relcache_table_layout(Oid relid);

}  // namespace snowid::pg
