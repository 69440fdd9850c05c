// Slots: what a server keeps of a shard in memory, above all its last tick.
//
// Shared: Slot, one for each (database, layout, shard), an entry of the table "slots"; and a few
// that all databases share, for the kinds of ID that know no shard. The tick is moved as
// core/tick.hpp says, without a lock, but that who opens a closed slot holds the database's, and
// what ids/closing.hpp says. A session is counted in as a user of each slot that it keeps
// a pointer to. The slots that all databases share have no such count, and are never deleted.
//
// Locks are taken in this order: Database::lock, the partition of "databases", those of the
// accounts of slots (shared/accounts.hpp), the partition of "slots".
#pragma once

#include "pg/ids/database.hpp"

namespace snowid::pg {

struct SlotKey {
  Oid database;   // InvalidOid for those that all databases share
  uint32 unused;  // 0, since keys are compared as bytes
  uint64 shard;
  core::LayoutSpec layout;
};

struct Slot {
  SlotKey key;
  std::atomic<uint64_t> last_tick;  // see core/tick.hpp
  std::atomic<uint32_t> users;
  Oid role;  // on whose account it is; InvalidOid where all databases share it
};

SNOWID_PIN(SlotKey, database, 0);
SNOWID_PIN(SlotKey, unused, 4);
SNOWID_PIN(SlotKey, shard, 8);
SNOWID_PIN(SlotKey, layout, 16);
SNOWID_PIN_SIZE(SlotKey, 32);
SNOWID_PIN(Slot, key, 0);
SNOWID_PIN(Slot, last_tick, 32);
SNOWID_PIN(Slot, users, 40);
SNOWID_PIN(Slot, role, 44);
// With the 16 bytes that dshash puts before it an entry is one cache line, and dsa places entries
// of that size on cache lines: no two shards share one.
SNOWID_PIN_SIZE(Slot, 48);

// Attaches to the tables of databases and slots, which the functions below need. Later calls cost
// next to nothing. Fails as table_attach() does.
void slots_attach();

// The slot of a shard of this database, made where there is none, with this session counted in. The
// ceiling must be known. shard: 0 to the layout's max_shard. Fails as quota_require_room() does,
// and with an error of class 53 where there is no memory. A slot that is made is closed where the
// shard is, see closing.hpp.
Slot* slot_of(const core::Layout& layout, int64 shard);

// Whether nothing comes after the slot's last tick: it is closed, or the layout used up.
inline bool IsAtEnd(const Slot* slot, const core::Layout& layout) {
  return slot->last_tick.load(std::memory_order_acquire) == EndOf(layout).value;
}

// Whether there is a slot of a shard of this database that is not at its end; and closes it.
bool is_slot_open(const core::Layout& layout, int64 shard);
void close_slot(const core::Layout& layout, int64 shard);

// Opens a slot of this database that is closed, above `last` and above every time up to the floor.
// last: as for core::Open(). Never fails where no lock of snowid's is held; it can be called at the
// end of a transaction.
void open_slot(Slot* slot, const core::Layout& layout, core::Tick last);

// The one slot of this layout that all databases share, made where there is none, with `floor` as
// its last tick. lift_slots() leaves it alone, see common_make_ready(). Fails with an error of
// class 53 where there is no memory.
Slot* common_slot_of(const core::Layout& layout, core::Tick floor);

// Raises this database's floor: from now on no slot of it issues an ID with a time up to `floor`.
// The caller holds my_database->lock. Closed slots stay closed; open_slot() sees the floor.
void lift_slots(core::UnixMicros floor);

// Raises the floor in the shared entry alone: of slots that are yet to be made.
void LiftShared(core::UnixMicros floor);

}  // namespace snowid::pg
