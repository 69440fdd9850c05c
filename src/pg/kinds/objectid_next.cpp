// The SQL function that makes ObjectIDs.
//
// MongoDB's clients have a random number and a counter for each process. Here the whole server
// counts as one process, so that its ObjectIDs increase across sessions.
//
// Shared: the counter, a slot that all databases share (ids/ids.hpp); and the random number, in the
// one entry of the table "objectid", which is never deleted.
#include "pg/kinds/objectid_next.hpp"

#include "pg/base/errors.hpp"
#include "pg/base/random.hpp"
#include "pg/compat.hpp"
#include "pg/ids/ids.hpp"
#include "pg/shared/abi.hpp"
#include "pg/shared/table.hpp"

// The ABI number of Process: of its form, and of what its fields mean.
#ifndef SNOWID_OBJECTID_ABI
#define SNOWID_OBJECTID_ABI 1
#endif

namespace snowid::pg {

namespace {

// The one entry of the table "objectid".
struct Process {
  uint64 key;                    // 0
  std::atomic<uint64_t> random;  // 0 until somebody has drawn it
};

SNOWID_PIN(Process, key, 0);
SNOWID_PIN(Process, random, 8);
SNOWID_PIN_SIZE(Process, 16);

SharedTable table = {{"objectid", SNOWID_OBJECTID_ABI, sizeof(uint64), sizeof(Process), nullptr},
                     nullptr};

CommonPlace objectid_place;
Process* process = nullptr;  // the entry, once objectid_place has a slot

constexpr uint64 kRandomBits = uint64{1} << 40;

// Fails with XX000 where the source of random bytes does.
uint64 fresh_random() {
  uint64 fresh;
  fetch_random(&fresh, sizeof(fresh));
  // A bit above the others, since they may all be 0.
  return fresh % kRandomBits | kRandomBits;
}

void attach_process() {
  constexpr uint64 kKey = 0;
  process = static_cast<Process*>(table_attach_entry(&table, &kKey));
}

// 40 random bits that are the same for all sessions, and others after the next start of the server,
// or when its ObjectIDs are set back.
uint64 random_of_process() { return process->random.load(std::memory_order_acquire) % kRandomBits; }

void make_ready() {
  uint32 counter;
  fetch_random(&counter, sizeof(counter));
  if (objectid_place.slot == nullptr) {
    uint64_t none = 0;
    const uint64 fresh = fresh_random();
    attach_process();
    process->random.compare_exchange_strong(none, fresh, std::memory_order_acq_rel);
  }
  common_make_ready(core::kObjectIdLayout, &objectid_place,
                    {counter & core::kObjectIdLayout.max_sequence.value});
}

}  // namespace

void objectid_draw_anew() {
  const uint64 fresh = fresh_random();
  attach_process();
  process->random.store(fresh, std::memory_order_release);
}

}  // namespace snowid::pg

using namespace snowid;
using namespace snowid::pg;

extern "C" {

SNOWID_FUNCTION(snowid_objectid_next);

// objectid_next() → objectid
Datum snowid_objectid_next(PG_FUNCTION_ARGS) {
  (void)fcinfo;
  require_read_write("objectid_next()");
  if (unlikely(!common_is_ready(objectid_place))) make_ready();
  auto* made = static_cast<core::ObjectId*>(palloc(sizeof(core::ObjectId)));
  *made = core::NextObjectId(random_of_process,
                             [] { return issue_common(core::kObjectIdLayout, objectid_place); });
  PG_RETURN_POINTER(made);
}
}
