// What a server keeps of a database that issues IDs, beside its slots.
//
// Shared: Database, one for each database, an entry of the table "databases". A session that issues
// IDs is counted in as a user of its database's entry until it exits. When a database was dropped,
// a sweep removes its entry with the last of its slots, see ids/slot_sweep.cpp.
#pragma once

#include "pg/ceiling/ceiling.hpp"
#include "pg/shared/table.hpp"

// The number of the family's ABI: of the form of Database, with the parts of it that the room of
// the ceiling has, of Slot, ShardEvents and Warnings, and of what their fields mean.
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 6
#endif

namespace snowid::pg {

// Kinds of events that are logged, see ids/events.hpp.
enum class EventKind : uint8_t { kClockSetBack, kLongWait, kRefusal };
inline constexpr int kEventKinds = 3;

struct Database {
  Oid oid;  // the key
  std::atomic<uint32_t> users;

  Ceiling ceiling;
  // Sweeps may have removed slots whose last unit of time had ended by swept_us, and had begun by
  // swept_ceiling_us, the ceiling when it was swept. A new slot starts above all of those. They
  // and the floor only grow, but for rewinding, which is done alone.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
  std::atomic<uint64_t> number;  // the node's number, see number_word
  // The transaction that has written the row of pg_database, see database_may_be_another().
  std::atomic<uint32_t> row_xmin;
  // Statistics, see ids/events.hpp. Only the first, which hardly ever changes, is in the cache line
  // of what every ID reads.
  std::atomic<int64_t> reset_us;  // when they were reset, as Unix microseconds; 0 where never
  std::atomic<int64_t> clock_us;  // about the latest time that any session has read from the clock
  RaiseCounts raises;
  // When each kind of event was last logged, in microseconds of a clock that cannot be set; 0 for
  // never.
  std::atomic<int64_t> logged_us[kEventKinds];

  SharedWild wild;
  // The longest unit of time that any slot of it may have, in microseconds.
  std::atomic<int64_t> longest_unit_us;
  // Whether it is known that this database may issue IDs, see may_issue.hpp.
  std::atomic<bool> may_issue;
  // The time of the last watermark, see ids/watermark.cpp. A new slot starts above it, too.
  std::atomic<int64_t> watermark_us;
};

SNOWID_PIN(Database, oid, 0);
SNOWID_PIN(Database, users, 4);
SNOWID_PIN(Database, ceiling, 8);
SNOWID_PIN(Database, swept_us, kLockSize + 56);
SNOWID_PIN(Database, swept_ceiling_us, kLockSize + 64);
SNOWID_PIN(Database, number, kLockSize + 72);
SNOWID_PIN(Database, row_xmin, kLockSize + 80);
SNOWID_PIN(Database, reset_us, kLockSize + 88);
SNOWID_PIN(Database, clock_us, kLockSize + 96);
SNOWID_PIN(Database, raises, kLockSize + 104);
SNOWID_PIN(Database, logged_us, kLockSize + 136);
SNOWID_PIN(Database, wild, kLockSize + 160);
SNOWID_PIN(Database, longest_unit_us, kLockSize + 688);
SNOWID_PIN(Database, may_issue, kLockSize + 696);
SNOWID_PIN(Database, watermark_us, kLockSize + 704);
SNOWID_PIN_SIZE(Database, kLockSize + 712);

// The table of databases. Declared here because sweeps of slots look at all of its entries.
extern SharedTable databases;

// This session's database, from database_attach() on.
extern Database* shared_database;

// Finds or makes the shared entry, and counts this session in. Later calls cost next to nothing.
// Fails as table_attach() does; then it can be called again.
void database_attach();

// Whether the entry may be that of a dropped database which had the same OID as this one: CREATE
// DATABASE may be given one. (After ALTER DATABASE this is true as well, which does no harm.) The
// node's number in the entry was then forgotten, and open slots may be of shards that are closed
// here. database_confirm() says that the caller has closed those.
bool database_may_be_another();
void database_confirm();

// Database::number of this database; before database_attach(), a word of this process's own.
extern std::atomic<uint64_t>* number_word;

// What the word holds: how often the node's number became another one, and below that the number
// itself, see shared_number.hpp.
constexpr int kSharedNumberBits = 16;
constexpr uint64 ChangesOf(uint64 word) { return word >> kSharedNumberBits; }

// Adds one to the changes, and forgets the number.
void CountNumberChange();

// Makes every session check with its next ID whether this database may issue IDs (may_issue.hpp),
// and learn the node's number anew. Fails as table_attach() does.
void recheck_may_issue();

}  // namespace snowid::pg
