// The list of places: an open-addressing hash table with linear probing, at most half full. An
// entry is never removed, since a session's shards are few and slots live as long as the server.
#include "pg/place.hpp"

#include "pg/errors.hpp"

namespace snowid::pg {

Place* recent_place = nullptr;

namespace {

constexpr uint32 kFirstCapacity = 16;

Place* places = nullptr;
uint32 capacity = 0;  // a power of two, or 0 before the first place is made
uint32 used = 0;

uint32 bucket_of(const core::Layout& layout, uint32 shard) {
  const uint64 mixed =
      (static_cast<uint64>(layout.epoch_us) ^ layout.unit_us ^ (uint64{layout.seq_bits} << 40)) +
      shard * UINT64CONST(0x9E3779B97F4A7C15);
  return static_cast<uint32>(mixed >> 32) & (capacity - 1);
}

// The entry of a shard, or the empty one where it belongs.
Place* probe(const core::Layout& layout, uint32 shard) {
  uint32 at = bucket_of(layout, shard);
  while (places[at].slot != nullptr &&
         !(places[at].shard.value == shard && places[at].layout == layout))
    at = (at + 1) & (capacity - 1);
  return &places[at];
}

void grow() {
  Place* old = places;
  const uint32 old_capacity = capacity;
  const uint32 wider = old_capacity == 0 ? kFirstCapacity : old_capacity * 2;
  // Allocated before anything changes, since it may fail.
  places = static_cast<Place*>(MemoryContextAllocExtended(TopMemoryContext, wider * sizeof(Place),
                                                          MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
  capacity = wider;
  recent_place = nullptr;
  for (uint32 i = 0; i < old_capacity; i++)
    if (old[i].slot != nullptr) *probe(old[i].layout, old[i].shard.value) = old[i];
  if (old != nullptr) pfree(old);
}

}  // namespace

Place* FindPlace(const core::Layout& layout, int32 shard) {
  if (shard < 0 || capacity == 0) return nullptr;
  Place* place = probe(layout, static_cast<uint32>(shard));
  return place->slot == nullptr ? nullptr : place;
}

void ForgetLastIds() {
  for (uint32 i = 0; i < capacity; i++) places[i].last_id = kNoId;
}

Place* place_make(const core::Layout& layout, int32 shard) {
  Place* place = FindPlace(layout, shard);
  if (place == nullptr) {
    if (shard < 0 || static_cast<uint32>(shard) > layout.MaxShard().value)
      report_shard_out_of_range(layout, shard);
    if (2 * (used + 1) > capacity) grow();
    Slot* slot = shared_slot(layout, {static_cast<uint32>(shard)});
    place = probe(layout, static_cast<uint32>(shard));
    *place = {layout, {static_cast<uint32>(shard)}, slot, kNoId};
    used++;
  }
  recent_place = place;
  return place;
}

}  // namespace snowid::pg
