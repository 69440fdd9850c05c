// Tables that are partitioned by the time of their IDs: what making partitions and dropping them
// have in common. Nothing is shared in memory.
//
// Everything is done as the table's owner, in a restricted context and with a search_path of
// pg_catalog, as PostgreSQL's own maintenance is: constraints, expressions of indexes and the like
// are the owner's code, and must not run with the rights of a superuser who calls.
//
// Locking: who makes partitions holds ShareUpdateExclusiveLock on the table, for which readers and
// writers do not wait; who takes them away AccessExclusiveLock. Both look first without, so that
// nobody waits where nothing is to be done.
#pragma once

#include "pg/prelude.hpp"
#include "pg/server/role.hpp"

namespace snowid::pg {

// A table whose partitions are ranges of IDs, as it was when it was locked. Copies, in the memory
// context of the call: nobody may alter a table that he holds open.
struct ParentTable {
  Oid relid;
  FormData_pg_class row;  // without the fields of variable length
  TupleDesc columns;
  const char* name;       // with its schema, quoted
  const char* column;     // the one that it is partitioned by, quoted
  Oid replica_index;      // that which identifies rows to subscribers, InvalidOid where none does
  Oid default_partition;  // InvalidOid where it has none
  PartitionBoundInfo bounds;  // of one datum each; nullptr where there is no partition
  const Oid* partitions;      // what bounds->indexes are indexes of
  Caller caller;
};

// Fails with 22023 where IDs of a layout are in another order than that of their time.
void require_order_by_time(const core::Layout& layout);

// Locks a table, and goes on as its owner. With omit_detached, partitions that are being detached
// concurrently count no more. Fails with 42P01 where there is no such table, 42501 where it is not
// the user's, 42809 where it is not partitioned by range of one column, 42804 where that is no
// bigint, and 0A000 where it is temporary.
void parent_enter(Oid relid, LOCKMODE lock, bool omit_detached, ParentTable* parent);

// Goes on as the caller. The lock stays.
void parent_leave(const ParentTable& parent);

// Runs a statement by SPI.
void run_statement(const char* statement);

// Begins a function's set of results, all of one column; adds one.
void results_begin(FunctionCallInfo fcinfo);
void results_add(FunctionCallInfo fcinfo, Datum value);

// The rows of the default partition that belong to a new one, on their way there.
struct MovingRows {
  Tuplestorestate* rows;  // nullptr where there are none
  TupleDesc columns;
  const char* names;  // of the columns, quoted
  uint64 count;
};

// Takes rows whose IDs are from `from` to `last` out of the default partition, without calling
// anybody's triggers. The default partition must be locked with AccessExclusiveLock. Fails with
// 0A000 where it is no plain table, and with 2BP01 where a foreign key forbids it.
void rows_take(const ParentTable& parent, int64 from, int64 last, MovingRows* moving);

// Puts them into the new partition, which is one by now: subscribers to the table see a deletion
// and an insertion.
void rows_put(const MovingRows& moving, Oid partition);

}  // namespace snowid::pg
