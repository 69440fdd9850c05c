// What other rooms may use of IDs. For shards that move: their places and slots, closing and
// opening them, and the ceiling (moved_shards.hpp, shard_state.hpp). For the kinds of ID that know
// no shard: ticks of slots that all databases of the server share.
//
// Shared: the slots, see shard_state.hpp.
#pragma once

#include "pg/database/shard_state.hpp"
#include "pg/ids/errors.hpp"
#include "pg/ids/events.hpp"
#include "pg/ids/issue.hpp"
#include "pg/ids/moved_shards.hpp"
#include "pg/ids/reach.hpp"
#include "pg/ids/slot_make.hpp"

namespace snowid::pg {

// Registers the settings, and what DISCARD means to IDs. Called once, when the library is loaded.
void ids_register();

// Lifts all slots of this database above `moment`, durably, so that none issues an ID with a time
// up to it any more. Callers wait where the clock is behind that. Fails as ceiling_learn() does.
void issue_only_above(core::UnixMicros moment);

// A slot that all databases share, as a session sees it.
struct CommonPlace {
  Slot* slot;      // nullptr where the session has not used it
  int64 floor_us;  // the database's floor when common_make_ready() was last called
};

// Makes the place ready to draw from. Its slot is then above this database's floor, and so above
// every time that the database may have used. A slot that is new is also above what any other
// database has used, if the clock was right. The owner of a database can set its floor, and others
// must not wait for it: where it is far ahead of the clock this caller waits, or is refused, before
// the slot is changed. start: where the sequence begins if the slot is new. common_is_ready() must
// have been called. Fails as issue() does, and as common_slot_of() does.
void common_make_ready(const core::Layout& layout, CommonPlace* place, core::Sequence start);

// As issue(), but takes one tick of a slot that all databases share.
static pg_attribute_always_inline core::Tick issue_common(const core::Layout& layout,
                                                          const CommonPlace& place) {
  return issue(layout, {0}, place.slot, 1, core::Span::kAny).first;
}

// Makes the ceiling known, and returns whether common_make_ready() was called for this place since
// the database's floor was last raised. Fails as ceiling_learn() does.
inline bool common_is_ready(const CommonPlace& place) {
  require_ceiling();
  return place.slot != nullptr &&
         place.floor_us == my_ceiling->floor_us.load(std::memory_order_acquire);
}

}  // namespace snowid::pg
