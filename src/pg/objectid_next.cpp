// The SQL function that makes ObjectIDs.
//
// Shared: one slot and one random number for all sessions of the server, whatever their database:
// to them it is one process, with one counter, so that its ObjectIDs increase across sessions.
#include "pg/compat.hpp"
#include "pg/errors.hpp"
#include "pg/issue.hpp"
#include "pg/random.hpp"

namespace snowid::pg {

namespace {

Slot* objectid_slot = nullptr;
uint64 objectid_random;

void find_slot() {
  constexpr core::Layout kLayout = core::kObjectIdLayout;
  uint32 counter;
  fetch_random(&counter, sizeof(counter));
  // The counter starts anywhere, in the first second of which nothing may have been used.
  const core::UnixMicros floor{my_database->floor_us.load(std::memory_order_acquire)};
  const core::Time unused =
      std::max(core::Time{TimeAt(kLayout, floor).value + 1}, TimeAt(kLayout, unix_now()));
  const core::Sequence start{counter & kLayout.max_sequence.value};
  Slot* slot = shared_common_slot(kLayout, MakeTick(kLayout, unused, start));
  objectid_random = shared_random();
  objectid_slot = slot;
}

}  // namespace

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(objectid_next);

// objectid_next() → objectid
Datum objectid_next(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_read_write("objectid_next()");
  if (unlikely(!ceiling_known)) ceiling_learn();
  if (unlikely(objectid_slot == nullptr)) find_slot();
  auto* made = static_cast<core::ObjectId*>(palloc(sizeof(core::ObjectId)));
  const core::Grant grant = issue(core::kObjectIdLayout, {0}, objectid_slot, 1, core::Span::kAny);
  *made = ObjectIdOf(grant.first, objectid_random);
  PG_RETURN_POINTER(made);
}
}
