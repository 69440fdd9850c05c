// Remote sequences: the source of a local sequence's blocks on another server. A row of
// snowid_internal.segment_sources names the source, and the role with whose rights it is used.
//
// A refill (sequence_cache.cpp) calls, in this order: is_unreachable_source() and
// is_retry_too_early(), which use the last failure; source_find(); source_allocate();
// note_failure().
//
// Shared: the table; and SourceFailures in a segment's entry (counter_state.hpp), stored with the
// right to refill, read by every process; statistics zero the counts at any time.
#pragma once

#include "pg/postgres.hpp"

#include "core/central.hpp"
#include "core/types.hpp"
#include "pg/sequence_page.hpp"
#include "pg/shmem/shared_table.hpp"

namespace snowid::pg {

struct Counter;

struct RemoteSource {
  Oid relid;             // the local sequence
  Oid owner;             // its owner when it was attached
  Oid server_oid;        // foreign server when it was attached, InvalidOid if dropped
  const char* server;    // the server's name, nullptr if there is no row
  const char* remote;    // the remote sequence, in regclass syntax
  const char* identity;  // of the source when it was attached, nullptr before
};

// The source of a sequence, in the current memory context; `server` is nullptr if there is none.
// Raises: 55000 if the table is missing or was altered.
RemoteSource source_find(Oid relid);

// Failures of a source. Times are Unix microseconds, except logged_us, see may_log().
struct SourceFailures {
  std::atomic<uint64_t> failures;  // failed allocations
  std::atomic<int64_t> failed_us;  // last failure
  std::atomic<int64_t> retry_us;   // next attempt; 0 if the last one succeeded
  std::atomic<int64_t> logged_us;  // last logged failure
  std::atomic<uint32_t> sqlstate;  // of the last failure, see errcode(); 0 if none
  std::atomic<uint32_t> file;  // the local sequence's storage at the failure: attaching changes it
  std::atomic<bool> is_down;   // whether the source was unreachable
};
SNOWID_PIN_SIZE(SourceFailures, 48);

// Stores a failure of the attempt begun at `began`, and defers the next one by twice the attempt's
// duration, to bound the callers' share of time spent on it. sqlstate: 08006 if the source was
// unreachable. why: a sentence for the server's log, used with kEarly, because no caller gets an
// error: once a minute, and whenever the SQLSTATE changes.
void note_failure(const Counter* counter, const RemoteSource& source, int sqlstate, const char* why,
                  core::UnixMicros began, Urgency urgency);

bool is_retry_too_early(const Counter* counter) noexcept;

bool is_unreachable_source(const Counter* counter) noexcept;

// Allocates 1 to `blocks` blocks durably, the first at `least` or above. Returns nullptr, or the
// error: as remote_run(); 55000 if the source's identity has changed, or it is behind `least`;
// 42501, 55000 or 42704 if the owner or the foreign server is another. Requires: no LWLock held.
// Raises: a cancel; 55000 if a superuser has removed the function that makes the statement.
ErrorData* source_allocate(const RemoteSource& source, int64 least, uint64 blocks,
                           core::GivenBlocks* allocated);

// Raises: 08006. why: the error of this attempt, nullptr if the next one is not due.
[[noreturn]] void source_report_down(const RemoteSource& source, const ErrorData* why);

}  // namespace snowid::pg
