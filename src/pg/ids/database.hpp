// What a server keeps of a database that issues IDs, beside its slots.
//
// Shared: Database, an entry of the table "databases", which a session that issues IDs counts
// itself in as a user of. It is removed with the last slot of a database that was dropped, see
// slots.cpp.
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

  LWLock lock;       // taken to raise the ceiling; guards what follows, but for reading the atomics
  Oid relation;      // the sequence that the ceiling is durable in, InvalidOid before the first use
  FileNumber file;   // and its storage, which ALTER SEQUENCE may replace
  int64 written_us;  // what the sequence holds, as far as this server knows; the ceiling or more
  XLogRecPtr written_lsn;  // the end of the record that says so, where there is one
  // No ID may be issued with a time above this one. Durable before it is stored here.
  std::atomic<int64_t> ceiling_us;
  // Never above the ceiling. Whoever is to issue an ID with a time above this one sees first to it
  // that the ceiling is raised.
  std::atomic<int64_t> alert_us;
  // Every time up to this one may have been used: where a slot starts that has no tick yet. It only
  // grows.
  std::atomic<int64_t> floor_us;
  // Slots may be gone whose last unit had ended by the one time, and begun by the other, which is a
  // ceiling: no slot had used a later one. They only grow.
  std::atomic<int64_t> swept_us;
  std::atomic<int64_t> swept_ceiling_us;
};

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
SNOWID_PIN_SIZE(Database, kLockSize + 72);

// The table, for sweeping the slots.
extern SharedTable databases;

// This session's database, from database_attach() on: the shared entry, or the session's own
// stand-in for it, see database_stand_in().
extern Database* my_database;
// The shared entry, whether or not there is a stand-in.
extern Database* shared_database;

// Finds or makes the shared entry. Once in a session; later calls cost nothing. Fails as
// table_attach() does.
void database_attach();

// Has `my_database` be a stand-in that belongs to this session (true), or the shared entry (false).
// A stand-in begins as the shared entry is, and lets a transaction that has made the ceiling's
// sequence anew issue IDs without telling others of a ceiling that may yet be rolled back.
void database_stand_in(bool wanted);
bool HasStandIn();

}  // namespace snowid::pg
