// What other rooms may use of IDs: ticks of slots that all databases of the server share, for the
// kinds of ID that know no shard.
//
// Shared: the slot, see slots.hpp.
#pragma once

#include "pg/ids/issue.hpp"

namespace snowid::pg {

// Registers the settings, and what DISCARD means to IDs. Called once, when the library is loaded.
void ids_register();

// A slot that all databases share, as a session sees it.
struct CommonPlace {
  Slot* slot;      // nullptr where the session has not used it
  int64 floor_us;  // the floor of this database that the slot is known to be above
};

// Makes the place ready to draw from: above every time that this database may have used, by its
// floor, and, where the slot is new, above all that any database may have used if the clock was
// right. The floor of a database, which its owner can set, is no reason for others to wait: one
// that is far ahead of the clock has this caller wait, or be refused, before it counts for all.
// start: where the sequence begins if the slot is new. Fails as issue() does.
void common_make_ready(const core::Layout& layout, CommonPlace* place, core::Sequence start);

// As issue(), of one tick of a slot that all databases share.
static pg_attribute_always_inline core::Tick issue_common(const core::Layout& layout,
                                                          const CommonPlace& place) {
  return issue(layout, {0}, place.slot, 1, core::Span::kAny).first;
}

// Whether common_make_ready() has been called since the database's floor was last raised. Fails as
// ceiling_learn() does.
inline bool common_is_ready(const CommonPlace& place) {
  if (unlikely(!ceiling_known)) ceiling_learn();
  return place.slot != nullptr &&
         place.floor_us == my_database->floor_us.load(std::memory_order_acquire);
}

}  // namespace snowid::pg
