// The layout of a table's IDs, by its columns' defaults, for snowid_watermark().
#pragma once

#include "pg/postgres.hpp"

#include "core/layout.hpp"

namespace snowid::pg {

struct DefaultLayout {
  bool has_layout;  // a default generates IDs of `layout`
  bool is_mixed;    // several layouts, or one not given as a constant
  bool is_other;    // a default is another sequence or function
  core::LayoutSpec layout;
};

// Adds those of a relation's columns and their domains. layout: zeroed at first. Locks nothing.
void default_layout_add(Oid relid, DefaultLayout* layout);

}  // namespace snowid::pg
