// What a server keeps of a database that issues IDs, beside its slots.
//
// Shared: Database, one for each database, an entry of the table "databases". A session that issues
// IDs is counted in as a user of its database's entry until it exits. When a database was dropped,
// a sweep removes its entry with the last of its slots, see slots.cpp.
#pragma once

#include "pg/compat.hpp"
#include "pg/shared/abi.hpp"
#include "pg/shared/table.hpp"

// The number of the family's ABI: of the form of Database, Slot and Warnings, and of what their
// fields mean.
#ifndef SNOWID_IDS_ABI
#define SNOWID_IDS_ABI 1
#endif

namespace snowid::pg {

struct Database {
  Oid oid;  // the key
  std::atomic<uint32_t> users;

  // Held, in exclusive mode, to raise the ceiling. It guards the next four fields and the storing
  // of ceiling_us. The other times are also raised without it, by compare-and-swap; all are read
  // without it.
  LWLock lock;
  Oid relation;      // the sequence that the ceiling is durable in, InvalidOid before the first use
  FileNumber file;   // and its storage, which ALTER SEQUENCE may replace
  int64 written_us;  // what the sequence holds, as far as this server knows; the ceiling or more
  // The end of the WAL record of that, InvalidXLogRecPtr where there is none to wait for.
  XLogRecPtr written_lsn;
  // No ID may be issued with a time above this one. Durable before it is stored here.
  std::atomic<int64_t> ceiling_us;
  // Never above the ceiling. Before a session issues an ID with a time above this one it has the
  // ceiling raised, or knows that another session does.
  std::atomic<int64_t> alert_us;
  // Every time up to this one may have been used, so a new slot starts above it. It only grows.
  std::atomic<int64_t> floor_us;
  // Sweeps may have removed slots whose last unit of time had ended by swept_us, and had begun by
  // swept_ceiling_us, the ceiling when it was swept. A new slot starts above all of those. Both
  // only grow.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
  std::atomic<uint64_t> number;  // the node's own, see shared_number.hpp
  // What has written the row of pg_database, see database_is_doubtful().
  std::atomic<uint32_t> row_xmin;
};

SNOWID_PIN(Database, oid, 0);
SNOWID_PIN(Database, users, 4);
SNOWID_PIN(Database, lock, 8);
SNOWID_PIN(Database, relation, kLockSize + 8);
SNOWID_PIN(Database, file, kLockSize + 12);
SNOWID_PIN(Database, written_us, kLockSize + 16);
SNOWID_PIN(Database, written_lsn, kLockSize + 24);
SNOWID_PIN(Database, ceiling_us, kLockSize + 32);
SNOWID_PIN(Database, alert_us, kLockSize + 40);
SNOWID_PIN(Database, floor_us, kLockSize + 48);
SNOWID_PIN(Database, swept_us, kLockSize + 56);
SNOWID_PIN(Database, swept_ceiling_us, kLockSize + 64);
SNOWID_PIN(Database, number, kLockSize + 72);
SNOWID_PIN(Database, row_xmin, kLockSize + 80);
SNOWID_PIN_SIZE(Database, kLockSize + 88);

// The table of databases. Declared here because sweeps of slots look at all of its entries.
extern SharedTable databases;

// This session's database, from database_attach() on: the shared entry, or the session's own
// stand-in for it, see database_stand_in().
extern Database* my_database;
// The shared entry, whether or not there is a stand-in.
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

// Points `my_database` to a stand-in that belongs to this session (true), or to the shared entry
// (false). A stand-in begins as a copy of the shared entry. With it a transaction that has made the
// ceiling's sequence anew can issue IDs, and others do not see a ceiling that may yet be rolled
// back.
void database_stand_in(bool wanted);
bool HasStandIn();

}  // namespace snowid::pg
