// The state of shards in shared memory, each in a slot: above all the last tick, from which its
// next ID follows.
//
// Used in this order: slots_attach(), by the first ID of a session; start_tick_of() and
// my_start_tick(), by who makes a slot (ids/moved_shards.cpp) or removes it (ids/shard_sweep.cpp);
// lift_slots(), by the ceiling when it raises the floor; close_slot() and open_slot(), by shards
// that move.
//
// Shared: Slot, one for each (database, layout, shard), an entry of the table "slots"; and a few
// that all databases share, for the kinds of ID that know no shard. The tick is moved as
// core/tick.hpp says, without a lock; a session that opens a closed slot holds Ceiling::lock, and
// what ids/moved_shards.hpp says. A session is counted in as a user of each slot that it keeps a
// pointer to. The slots that all databases share have no such count, and are never deleted.
//
// Locks are taken in this order: Ceiling::lock, the partition of "databases", that of the usage of
// slots (shmem/bounds.hpp), that of "slots".
#pragma once

#include "pg/database/database.hpp"
#include "pg/debug.hpp"

namespace snowid::pg {

// The key of a slot, compared as bytes.
struct SlotKey {
  core::LayoutSpec layout;
  uint64 shard;
  Oid database;  // InvalidOid for those that all databases share
};
inline constexpr Size kSlotKeySize = offsetof(SlotKey, database) + sizeof(Oid);

struct Slot {
  SlotKey key;
  std::atomic<uint64_t> last_tick;  // see core/tick.hpp
  // How many sessions use it, in the low kUserBits; above them how many IDs it has issued since the
  // start of the server or the last reset, as far as sessions have added them
  // (ids/session_cache.hpp).
  std::atomic<uint64_t> uses;
};

// A session is a slot's user three times at most: in its cache, while its transaction moves the
// shard (nodes/shard_moves.cpp), and for a moment. No server has a quarter as many processes
// (MAX_BACKENDS in PostgreSQL's postmaster.c). What is left counts IDs for half a year at a million
// a second, and then begins anew. Tests have few users.
inline constexpr int kUserBits = kIsDebug ? 10 : 20;
inline constexpr uint64 kUsersMask = (uint64{1} << kUserBits) - 1;

SNOWID_PIN_SIZE(SlotKey, 32);
SNOWID_PIN(Slot, last_tick, 32);
// With the 16 bytes that dshash puts before it an entry is one cache line, and dsa places entries
// of that size on cache lines: no two shards share one.
SNOWID_PIN_SIZE(Slot, 48);

// The table of slots. Declared here because statistics look at all of its entries.
extern SharedTable slots;

// Counts this session in as a user of a slot; and out, as let_go() in shmem/shared_table.hpp does.
inline void hold(Slot* slot) noexcept { slot->uses.fetch_add(1, std::memory_order_relaxed); }
inline void let_go(Slot*& slot) noexcept {
  if (slot == nullptr) return;
  Slot* was = slot;
  slot = nullptr;
  was->uses.fetch_sub(1, std::memory_order_release);
}

inline bool is_in_use(const Slot* slot) noexcept {
  return (slot->uses.load(std::memory_order_acquire) & kUsersMask) > 0;
}

// How many IDs a slot has issued: reads the count, adds to it, and has it begin anew.
inline uint64 issued_by(const Slot* slot) noexcept {
  return slot->uses.load(std::memory_order_relaxed) >> kUserBits;
}
inline void add_issued(Slot* slot, uint64 count) noexcept {
  slot->uses.fetch_add(count << kUserBits, std::memory_order_relaxed);
}
inline void forget_issued(Slot* slot) noexcept {
  slot->uses.fetch_and(kUsersMask, std::memory_order_relaxed);
}

// A database has room for all slots of the default layout.
inline bool is_of_default_layout(const SlotKey& key) noexcept {
  return key.layout == core::kInstagram.spec;
}

// Attaches to the tables of databases and slots, which the functions below require. Later calls
// cost next to nothing. Raises: 55000 if a library with another ABI number is in use; an error of
// class 53 if there is no memory. It can be called again then.
void slots_attach();

// The key of a shard of this database.
SlotKey slot_key_of(const core::Layout& layout, int64 shard) noexcept;

// The layout of a slot. `recent` is that of the slot before, which is often the same.
const core::Layout& slot_layout(const Slot* slot, core::Layout* recent) noexcept;

// The times above which slots of a database start, see Database.
struct SlotStart {
  core::UnixMicros floor;
  core::UnixMicros swept;
  core::UnixMicros swept_ceiling;
  core::UnixMicros watermark;
};
SlotStart slot_start_of(const Database* database) noexcept;

// Whether a watermark covers the unit of time of the last ID. Slots skip the rest of it, so it must
// be short; of other layouts it covers the units that have ended.
constexpr bool has_short_unit(const core::Layout& layout) noexcept {
  return layout.unit_us <= 10'000;
}

// The last tick that a new slot begins with: above all times that may have been used, above all
// that slots have issued which a sweep may have removed, and above the last watermark.
core::Tick start_tick_of(const core::Layout& layout, const SlotStart& start) noexcept;

// The same for this database as this session sees it. The floor of a transaction's own ceiling
// includes times that are in use only in this transaction, the shared one what others have done
// meanwhile.
core::Tick my_start_tick(const core::Layout& layout) noexcept;

// Whether nothing comes after the slot's last tick: it is closed, or the layout used up.
inline bool is_at_end(const Slot* slot, const core::Layout& layout) noexcept {
  return slot->last_tick.load(std::memory_order_acquire) == end_of(layout).value;
}

// Whether there is a slot of this key that is not at its end; and closes the slot, if there is one.
bool is_slot_open(const SlotKey& key, const core::Layout& layout);
void close_slot(const SlotKey& key, const core::Layout& layout);

// Opens a slot of this database that is closed, above `last` and above every time up to the floor.
// last: as for core::open_tick(). Requires: no lock of snowid's is held. Raises nothing then; it
// can be called at the end of a transaction.
void open_slot(Slot* slot, const core::Layout& layout, core::Tick last);

// The one slot of this layout that all databases share, made if there is none, with `floor` as its
// last tick. lift_slots() does not lift it, see common_make_ready(). Raises: an error of class 53
// if there is no memory.
Slot* common_slot_of(const core::Layout& layout, core::Tick floor);

// Calls a function with each slot of this database, and with those that all databases share, whose
// key has no database. Requires: it takes no lock and raises no error.
using SlotVisitor = void (*)(Slot* slot, const core::Layout& layout, void* context);
void visit_slots(SlotVisitor visit, void* context);

// Raises all slots of this database above a floor, so that none issues an ID with a time up to it
// any more. Closed slots stay closed; open_slot() reads the floor. Requires: the floor was raised
// before, so that slots that are made later are above it, and the ceiling's lock is held.
void lift_slots(core::UnixMicros floor);

}  // namespace snowid::pg
