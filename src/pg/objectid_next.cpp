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

CommonPlace objectid_place;
uint64 objectid_random;

void make_ready() {
  uint32 counter;
  fetch_random(&counter, sizeof(counter));
  objectid_random = shared_random();
  common_make_ready(core::kObjectIdLayout, &objectid_place,
                    {counter & core::kObjectIdLayout.max_sequence.value});
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
  if (unlikely(!CommonIsReady(objectid_place))) make_ready();
  auto* made = static_cast<core::ObjectId*>(palloc(sizeof(core::ObjectId)));
  *made = ObjectIdOf(issue_common(core::kObjectIdLayout, objectid_place), objectid_random);
  PG_RETURN_POINTER(made);
}
}
