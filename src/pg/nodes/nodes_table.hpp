// The registry's table of nodes, and what every use of a row needs.
//
// Shared: the table snowid.nodes. Who changes it holds its ShareRowExclusiveLock until his
// transaction ends, and reads the rows as they are then.
#pragma once

#include "pg/prelude.hpp"

namespace snowid::pg {

// The columns of snowid.nodes.
enum NodeColumn : int {
  kNumber,
  kNode,  // null where the number was given back
  kDatabase,
  kSystem,
  kDatabaseOid,
  kTimeline,
  kClaimed,
  kLastSeen,
  kLastIdTime,
  kLeftNode,  // this one and the next are null where it was not
  kFreeFrom,
  kSecret,
  kToken,
  kPreviousToken,
  kWrittenBy,  // null where the row was restored
  kNodeColumns,
};

struct NodeRow {
  HeapTuple tuple;  // nullptr where there is none
  Datum values[kNodeColumns];
  bool nulls[kNodeColumns];
};

// Opens the table. Close it with NoLock. Fails as own_table_open() does.
Relation nodes_open(LOCKMODE lock);

// A row that a scan has found, copied.
NodeRow node_row_read(Relation table, HeapTuple tuple);

inline int64 int64_of(const NodeRow& row, NodeColumn column) {
  return DatumGetInt64(row.values[column]);
}
bool text_is(const NodeRow& row, NodeColumn column, const char* value);

// Whether the number is a node's, and whether it can be given to one. It is neither for a while
// after it was given back.
inline bool IsInUse(const NodeRow& row) { return row.nulls[kFreeFrom]; }
inline bool IsFree(const NodeRow& row, TimestampTz now) {
  return !IsInUse(row) && DatumGetTimestampTz(row.values[kFreeFrom]) <= now;
}

// Which database this is, as the column written_by has it: another one than the one that the rows
// were written in, where they were copied with all files, or the server has been promoted.
const char* registry_identity();

// Stores that the node of the row has given its number back, with what else the row has. used: the
// greatest time that an ID of it can have. now: by the clock of after the table was locked.
void node_row_give_back(Relation table, NodeRow* row, TimestampTz used, TimestampTz now);

}  // namespace snowid::pg
