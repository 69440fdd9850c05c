// Finding, opening, closing and lifting slots.
#include "pg/database/shard_state.hpp"

#include "pg/debug.hpp"

namespace snowid::pg {

SharedTable slots = {{"slots", SNOWID_IDS_ABI, kSlotKeySize, sizeof(Slot), nullptr}, nullptr};

SlotKey slot_key_of(const core::Layout& layout, int64 shard) noexcept {
  return {layout.spec, static_cast<uint64>(shard), MyDatabaseId};
}

const core::Layout& slot_layout(const Slot* slot, core::Layout* recent) noexcept {
  if (!(slot->key.layout == recent->spec)) *recent = core::make_layout(slot->key.layout);
  return *recent;
}

SlotStart slot_start_of(const Database* database) noexcept {
  return {{database->ceiling.floor_us.load(std::memory_order_acquire)},
          {database->swept_us.load(std::memory_order_acquire)},
          {database->swept_ceiling_us.load(std::memory_order_acquire)},
          {database->watermark_us.load(std::memory_order_acquire)}};
}

core::Tick start_tick_of(const core::Layout& layout, const SlotStart& start) noexcept {
  const core::Tick read = has_short_unit(layout) ? last_tick_at(layout, start.watermark)
                                                 : last_tick_before(layout, start.watermark);
  const core::Tick floor = std::max(last_tick_at(layout, start.floor), read);
  // There is room for all of these, so sweeps need not remove them: those that start at the floor
  // are not behind it.
  if (layout.spec == core::kInstagram.spec) return floor;
  const core::Tick gone =
      std::min(last_tick_before(layout, start.swept), last_tick_at(layout, start.swept_ceiling));
  return std::max(floor, gone);
}

core::Tick my_start_tick(const core::Layout& layout) noexcept {
  const core::UnixMicros floor{my_ceiling->floor_us.load(std::memory_order_acquire)};
  return std::max(last_tick_at(layout, floor),
                  start_tick_of(layout, slot_start_of(shared_database)));
}

void slots_attach() {
  database_attach();
  table_attach(&slots);
}

bool is_slot_open(const SlotKey& key, const core::Layout& layout) {
  auto* slot = static_cast<Slot*>(table_find(slots, &key, false));
  if (slot == nullptr) return false;
  const bool is_open = !is_at_end(slot, layout);
  table_release(slots, slot);
  return is_open;
}

void close_slot(const SlotKey& key, const core::Layout& layout) {
  auto* slot = static_cast<Slot*>(table_find(slots, &key, false));
  if (slot == nullptr) return;
  close_tick(slot->last_tick, layout);
  table_release(slots, slot);
}

void open_slot(Slot* slot, const core::Layout& layout, core::Tick last) {
  // A session that lifts the slots holds this lock, too. It was before this, and the floor is
  // raised already; or it comes later, and finds the slot open. (A transaction's own ceiling has a
  // lock of its own: see ceiling_hold().)
  LWLockAcquire(&shared_database->ceiling.lock, LW_EXCLUSIVE);
  last = std::max(last, my_start_tick(layout));
  if (is_at_end(slot, layout))
    open_tick(slot->last_tick, last);
  else
    raise_to(slot->last_tick, last);
  LWLockRelease(&shared_database->ceiling.lock);
}

Slot* common_slot_of(const core::Layout& layout, core::Tick floor) {
  const SlotKey key{layout.spec, 0, InvalidOid};
  bool made;
  auto* slot = static_cast<Slot*>(table_find_or_make(slots, &key, &made));
  if (made) slot->last_tick.store(floor.value, std::memory_order_relaxed);
  table_release(slots, slot);
  return slot;
}

void visit_slots(SlotVisitor visit, void* context) {
  dshash_seq_status scan;
  dshash_seq_init(&scan, slots.attached, false);
  core::Layout recent = core::kInstagram;
  while (auto* slot = static_cast<Slot*>(dshash_seq_next(&scan)))
    if (slot->key.database == MyDatabaseId || !OidIsValid(slot->key.database))
      visit(slot, slot_layout(slot, &recent), context);
  dshash_seq_term(&scan);
}

void lift_slots(core::UnixMicros floor) {
  const auto lift = [](Slot* slot, const core::Layout& layout, void* to) {
    if (!OidIsValid(slot->key.database)) return;
    raise_to(slot->last_tick, last_tick_at(layout, *static_cast<const core::UnixMicros*>(to)));
  };
  visit_slots(lift, &floor);
}

}  // namespace snowid::pg
