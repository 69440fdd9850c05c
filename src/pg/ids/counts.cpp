// Counting IDs. See counts.hpp.
#include "pg/ids/counts.hpp"

#include "pg/ids/events.hpp"
#include "pg/server/at_end.hpp"

namespace snowid::pg {

namespace {

// What there is to tell.
Uncounted* listed = nullptr;

// Whether this transaction has got an ID.
bool has_begun = false;

// At the end of the transaction, in a parallel worker, too.
void tell_slots(XactEvent event) {
  switch (event) {
    case XACT_EVENT_PARALLEL_PRE_COMMIT:
    case XACT_EVENT_PRE_COMMIT:
    case XACT_EVENT_PRE_PREPARE:
      return;
    default:
      CountsFlush();
      has_begun = false;
  }
}

// What a transaction does with its first ID: it looks at the clock once more, for one that was set
// back by less than what the lead allows, which nobody else would see.
void begin(const Slot* slot) {
  at_end_subscribe(AtEndOrder::kIssued, {tell_slots, nullptr, nullptr});
  has_begun = true;
  note_clock(slot);
}

}  // namespace

Uncounted* count_begin(const PlaceDirectory* directory, uint64 number, const Slot* slot) {
  if (!has_begun) begin(slot);
  Uncounted* kept = directory->kept[number];
  directory->uncounted[number] = kept;
  kept->next = listed;
  return listed = kept;
}

void count_many(Slot* slot, uint32 count) {
  AddIssued(slot, count);
  if (!has_begun) begin(slot);
}

void CountsFlush() {
  constexpr int kToWrite = 1;
  for (Uncounted* uncounted = listed; uncounted != nullptr; uncounted = uncounted->next) {
    const PlaceDirectory* directory = uncounted->directory;
    directory->uncounted[uncounted->number] = nullptr;
    const Place* places = directory->chunks[uncounted->number]->places;
    // Slots of many shards may be far away: all of a chunk come while the first are told.
    for (uint32 at = 0; at < PlaceChunk::kShards; at++)
      if (uncounted->ids[at] > 0) __builtin_prefetch(places[at].slot, kToWrite);
    for (uint32 at = 0; at < PlaceChunk::kShards; at++) {
      const uint8 count = uncounted->ids[at];
      if (count == 0) continue;
      uncounted->ids[at] = 0;
      AddIssued(places[at].slot, count);
    }
  }
  listed = nullptr;
}

}  // namespace snowid::pg
