// Counting IDs. See counts.hpp.
#include "pg/ids/counts.hpp"

#include "pg/ids/events.hpp"

namespace snowid::pg {

namespace {

// The chunks of which this transaction got IDs.
Uncounted* listed = nullptr;

// Whether this transaction has got an ID.
bool has_begun = false;

// Called for the first ID of a transaction. Looks at the clock once more: one that was set back by
// less than what the lead allows would be noticed nowhere else.
void begin_counting() {
  has_begun = true;
  note_clock();
}

}  // namespace

Uncounted* count_begin(const PlaceDirectory* directory, uint64 number) {
  if (!has_begun) begin_counting();
  Uncounted* of_chunk = directory->all_uncounted[number];
  directory->uncounted[number] = of_chunk;
  of_chunk->next = listed;
  return listed = of_chunk;
}

void count_many(Slot* slot, uint32 count) {
  add_issued(slot, count);
  if (!has_begun) begin_counting();
}

void counts_flush() noexcept {
  constexpr int kToWrite = 1;
  for (Uncounted* uncounted = listed; uncounted != nullptr; uncounted = uncounted->next) {
    const PlaceDirectory* directory = uncounted->directory;
    directory->uncounted[uncounted->number] = nullptr;
    const Place* places = directory->chunks[uncounted->number]->places;
    // Slots of many shards may not be in the cache: they are prefetched for the whole chunk.
    for (uint32 at = 0; at < PlaceChunk::kShards; at++)
      if (uncounted->ids[at] > 0) __builtin_prefetch(places[at].slot, kToWrite);
    for (uint32 at = 0; at < PlaceChunk::kShards; at++) {
      const uint8 count = uncounted->ids[at];
      if (count == 0) continue;
      uncounted->ids[at] = 0;
      add_issued(places[at].slot, count);
    }
  }
  listed = nullptr;
}

void at_eoxact_counts(XactEvent event) {
  if (event == XACT_EVENT_PRE_COMMIT || event == XACT_EVENT_PRE_PREPARE) return;
  counts_flush();
  has_begun = false;
}

}  // namespace snowid::pg
