// Remote sequences: a sequence here that takes its blocks from a sequence on another server. A row
// of the table snowid_internal.segment_sources says from which one, and with whose rights.
//
// A refill (sequence_cache.cpp) calls, in this order: is_unreachable_source() and
// is_retry_too_early(), which use the last failure; source_find(); source_allocate()
// (remote_blocks.cpp); note_failure().
//
// Shared: the table; and SourceFailures, a part of a segment's entry (counter_state.hpp). The
// process that has the right to refill stores it; every process that draws reads it. Statistics
// read it at any time, and zero the counts.
#pragma once

#include "pg/postgres.hpp"

#include "core/central.hpp"
#include "core/types.hpp"
#include "pg/sequence_page.hpp"
#include "pg/shmem/shared_table.hpp"

namespace snowid::pg {

struct Counter;

// A row of the table.
struct RemoteSource {
  Oid relid;             // the sequence here
  Oid owner;             // the role that owned it when it was attached
  Oid server_oid;        // the foreign server that it was attached to, InvalidOid if that is gone
  const char* server;    // its name, nullptr if there is no row
  const char* remote;    // the sequence there, as written for regclass
  const char* identity;  // which one it was when it was attached, nullptr before
};

// The source of a sequence, in the current memory context; its server is nullptr if it has none.
// Raises: 55000 if the table is missing or was altered.
RemoteSource source_find(Oid relid);

// The failures of a source. Times are Unix microseconds, but of logged_us, see may_log().
struct SourceFailures {
  std::atomic<uint64_t> failures;  // how often numbers could not be allocated
  std::atomic<int64_t> failed_us;  // the last time
  std::atomic<int64_t> retry_us;   // when the source may be tried again; 0 if it has given numbers
                                   // since it failed, or has never failed
  std::atomic<int64_t> logged_us;  // when a failure was last logged
  std::atomic<uint32_t> sqlstate;  // the last one's, as errcode() has it; 0 if there is none
  std::atomic<uint32_t> file;  // the sequence's storage then: attaching another source changes it
  std::atomic<bool> is_down;   // it could not be reached
};
SNOWID_PIN_SIZE(SourceFailures, 48);

// Remembers that the source, which was tried when it was `began`, has failed, and for how long it
// is not to be tried: twice as long as the failure took, so that callers spend no great part of
// their time on it. sqlstate: 08006 if it could not be reached. why: a sentence for the server's
// log, to which a failure goes with kEarly, since no caller gets an error: once a minute, and
// whenever the SQLSTATE is another one than the last one's.
void note_failure(const Counter* counter, const RemoteSource& source, int sqlstate, const char* why,
                  core::UnixMicros began, Urgency urgency);

// Whether the counter's source has failed and is not to be tried yet.
bool is_retry_too_early(const Counter* counter) noexcept;

// Whether it could not be reached when it was last tried.
bool is_unreachable_source(const Counter* counter) noexcept;

// Allocates 1 to `blocks` blocks durably, the first of which begins at `least` or above. Returns
// nullptr, or the error: what remote_run() returns; 55000 if the source has another identity than
// when it was attached, or is behind `least`; 42501, 55000 or 42704 if the owner or the foreign
// server is another one, or gone. A cancel of the query is raised.
// Requires: no LWLock is held.
ErrorData* source_allocate(const RemoteSource& source, int64 least, uint64 blocks,
                           core::GivenBlocks* allocated);

// The identity of a source that is about to be attached, of which relid, owner, server_oid, server
// and remote are set. Nothing is allocated. Raises: 08006 if the server cannot be reached; 55000 if
// the source cycles, counts down, or is behind `least`; 42809 if there is no such sequence; 08P01.
const char* source_identify(const RemoteSource& source, int64 least);

// 08006. why: the error of this try, or nullptr if the source was not tried, because it failed a
// moment ago.
[[noreturn]] void source_report_down(const RemoteSource& source, const ErrorData* why);

}  // namespace snowid::pg
