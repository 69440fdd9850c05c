// The root, the area and its tables, for the files that make shared.hpp what it is: shared.cpp,
// quota.cpp, slots.cpp and counter_store.cpp. Nothing else includes this.
//
// Shared: a session that locks partitions of several tables takes those of `databases` first, then
// of `accounts`, then of one of the others.
#pragma once

#include "pg/shared.hpp"

namespace snowid::pg {

// How many layouts can be about to end, and the log be told of each.
inline constexpr uint32 kWarnings = 64;

// A layout that is about to end. Nothing is ever removed.
struct Warning {
  std::atomic<uint64_t> layout;  // a hash of it; 0 where nobody has used this yet
  std::atomic<int64_t> warned_us;
};

struct Root {
  uint32 abi;  // must stay the first field
  int tranche;
  LWLock lock;
  dsa_handle area;
  dshash_table_handle databases;
  dshash_table_handle accounts;
  dshash_table_handle slots;
  dshash_table_handle segments;
  dshash_table_handle sections;
  std::atomic<uint32_t> counts[kKinds];
  // When the table was last swept for a role, for a database, for the server, as Unix microseconds.
  std::atomic<int64_t> swept_us[kKinds][3];
  std::atomic<uint64_t> key_count;
  std::atomic<uint64_t> swept_key_count;  // as many when dropped sections were last looked for
  std::atomic<uint64_t> random;           // 0 until somebody asks for it
  Warning warnings[kWarnings];
};

struct AccountKey {
  Oid database;
  Oid role;
};

// What a role has made in a database, an entry of the table `accounts`. Guarded by the lock of its
// partition. Where all counts are 0 there is none, but for what an error has left.
struct Account {
  AccountKey key;
  uint32 counts[kKinds];
};

// This session's way to the shared state, from shared_attach() on.
extern Root* root;
extern dsa_area* area;
extern dshash_table* databases;
extern dshash_table* accounts;
extern dshash_table* slots;
extern dshash_table* segments;
extern dshash_table* sections;
extern Database* shared_database;  // this session's, which it is counted in as a user of

}  // namespace snowid::pg
