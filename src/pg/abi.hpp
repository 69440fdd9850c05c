// The form of what lies in shared memory, by number. Sessions of libraries with other numbers
// refuse to share it. Nothing is shared here.
#pragma once

#include "pg/area.hpp"

// To be changed with anything that is asserted below, with core::Segment or core::KeyTable, and
// with what their fields mean; so that no change of form goes without another number.
#ifndef SNOWID_ABI
#define SNOWID_ABI 4
#endif

namespace snowid::pg {

// A lock's size is the server's own.
inline constexpr Size kLockSize = sizeof(LWLock);

#define SNOWID_AT(type, field, offset) static_assert(offsetof(type, field) == (offset))

SNOWID_AT(Root, abi, 0);
SNOWID_AT(Root, tranche, 4);
SNOWID_AT(Root, lock, 8);
SNOWID_AT(Root, area, kLockSize + 8);
SNOWID_AT(Root, databases, kLockSize + 16);
SNOWID_AT(Root, accounts, kLockSize + 24);
SNOWID_AT(Root, slots, kLockSize + 32);
SNOWID_AT(Root, segments, kLockSize + 40);
SNOWID_AT(Root, sections, kLockSize + 48);
SNOWID_AT(Root, counts, kLockSize + 56);
SNOWID_AT(Root, swept_us, kLockSize + 64);
SNOWID_AT(Root, key_count, kLockSize + 112);
SNOWID_AT(Root, swept_key_count, kLockSize + 120);
SNOWID_AT(Root, random, kLockSize + 128);
SNOWID_AT(Root, warnings, kLockSize + 136);
static_assert(sizeof(Root) == kLockSize + 136 + 16 * kWarnings);

SNOWID_AT(Database, oid, 0);
SNOWID_AT(Database, users, 4);
SNOWID_AT(Database, lock, 8);
SNOWID_AT(Database, relation, kLockSize + 8);
SNOWID_AT(Database, file, kLockSize + 12);
SNOWID_AT(Database, written_us, kLockSize + 16);
SNOWID_AT(Database, written_lsn, kLockSize + 24);
SNOWID_AT(Database, ceiling_us, kLockSize + 32);
SNOWID_AT(Database, alert_us, kLockSize + 40);
SNOWID_AT(Database, floor_us, kLockSize + 48);
SNOWID_AT(Database, swept_us, kLockSize + 56);
SNOWID_AT(Database, swept_ceiling_us, kLockSize + 64);
SNOWID_AT(Database, counts, kLockSize + 72);
SNOWID_AT(Database, key_count, kLockSize + 80);
static_assert(sizeof(Database) == kLockSize + 88);

SNOWID_AT(Slot, key, 0);
SNOWID_AT(Slot, last_tick, 32);
SNOWID_AT(Slot, users, 40);
SNOWID_AT(Slot, role, 44);
static_assert(sizeof(Slot) == 48);

SNOWID_AT(Known, file, 0);
SNOWID_AT(Known, before, 8);
SNOWID_AT(Known, after, 16);
SNOWID_AT(Known, lsn_before, 24);
SNOWID_AT(Known, lsn_after, 32);
SNOWID_AT(Known, is_called, 40);
SNOWID_AT(Known, log_cnt, 48);
static_assert(sizeof(Known) == 56);

SNOWID_AT(BuyingRight, holder, 0);
SNOWID_AT(BuyingRight, released, 4);
static_assert(sizeof(BuyingRight) == 16);

SNOWID_AT(SharedSegment, key, 0);
SNOWID_AT(SharedSegment, users, 8);
SNOWID_AT(SharedSegment, role, 12);
SNOWID_AT(SharedSegment, buying, 16);
SNOWID_AT(SharedSegment, known, 32);
SNOWID_AT(SharedSegment, numbers, 88);
SNOWID_AT(SharedSegment, retry_us, 168);
SNOWID_AT(SharedSegment, failed_us, 176);
SNOWID_AT(SharedSegment, failed_file, 184);
SNOWID_AT(SharedSegment, failure, 188);
SNOWID_AT(SharedSegment, behind_at, 192);
SNOWID_AT(SharedSegment, blocks, 200);
SNOWID_AT(SharedSegment, bought_us, 208);
SNOWID_AT(SharedSegment, bought_cursor, 216);
static_assert(sizeof(SharedSegment) == 224);

SNOWID_AT(SharedSection, key, 0);
SNOWID_AT(SharedSection, users, 8);
SNOWID_AT(SharedSection, role, 12);
SNOWID_AT(SharedSection, buying, 16);
SNOWID_AT(SharedSection, known, 32);
SNOWID_AT(SharedSection, lock, 88);
SNOWID_AT(SharedSection, limit, kLockSize + 88);
SNOWID_AT(SharedSection, alert, kLockSize + 96);
SNOWID_AT(SharedSection, state, kLockSize + 104);
SNOWID_AT(SharedSection, table, kLockSize + 120);
SNOWID_AT(SharedSection, refused_us, kLockSize + 128);
static_assert(sizeof(SharedSection) == kLockSize + 136);

static_assert(sizeof(core::Segment) == 80);
static_assert(sizeof(core::SectionState) == 16);
static_assert(sizeof(core::KeyTable) == 16 && sizeof(core::KeyNode) == 32);
static_assert(sizeof(Account) == 16);

#undef SNOWID_AT

}  // namespace snowid::pg
