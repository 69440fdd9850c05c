// What a server keeps of a database that issues IDs, beside its slots.
//
// Shared: Database, one for each database, an entry of the table "databases". A session that issues
// IDs is counted in as a user of its database's entry until it exits. When a database was dropped,
// a sweep removes its entry with the last of its slots, see slots.cpp.
#pragma once

#include "pg/ceiling/ceiling.hpp"
#include "pg/shared/table.hpp"

// The number of the family's ABI: of the form of Database, with the parts of it that the room of
// the ceiling has, of Slot, ShardEvents and Warnings, and of what their fields mean.
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 5
#endif

namespace snowid::pg {

// Events that the log is told of, see events.hpp.
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
  std::atomic<uint64_t> number;  // the node's own, see shared_number.hpp
  // What has written the row of pg_database, see database_is_doubtful().
  std::atomic<uint32_t> row_xmin;
  // Statistics, see events.hpp. Only the first, which hardly ever changes, is in the cache line of
  // what every ID reads.
  std::atomic<int64_t> reset_us;  // when they were reset, as Unix microseconds; 0 where never
  std::atomic<int64_t> clock_us;  // about the latest clock that anybody has seen
  RaiseCounts raises;
  // When the log was last told of each kind of event, in microseconds of a clock that nobody sets;
  // 0 where never.
  std::atomic<int64_t> logged_us[kEventKinds];

  SharedWild wild;
  // The longest unit of time that any slot of it may have, in microseconds.
  std::atomic<int64_t> longest_unit_us;
  // Whether this database was asked, and may issue IDs at all, see may_issue_hook.
  std::atomic<bool> may_issue;
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
SNOWID_PIN_SIZE(Database, kLockSize + 704);

// The table of databases. Declared here because sweeps of slots look at all of its entries.
extern SharedTable databases;

// This session's database, from database_attach() on.
extern Database* shared_database;

// Finds or makes the shared entry, and counts this session in. Later calls cost next to nothing.
// Fails as table_attach() does; then it can be called again.
void database_attach();

// Whether the entry may be that of a database that was dropped, and had this one's OID: CREATE
// DATABASE may be told one. (ALTER DATABASE makes it doubtful, too, which does no harm.) What was
// known of the node's number is forgotten then, and open slots may be of shards that are closed
// here. database_confirm(): somebody has seen to it.
bool database_is_doubtful();
void database_confirm();

// Set by the room that knows whether this database is a copy of another one, which may issue no
// IDs. fails: whether that is an error. It may look at catalogs. It is asked where the ceiling is
// to be raised, until it has said yes once; and again after database_doubt(). In a transaction that
// has changed the number it is asked each time.
extern bool (*may_issue_hook)(bool fails);
void look_whether_it_may_issue(bool fails);

// Has every session ask may_issue_hook with its next ID.
void database_doubt();

}  // namespace snowid::pg
