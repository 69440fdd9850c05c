// Remote sequences: a sequence here that takes its blocks from a sequence on another server. A row
// of the table snowid_internal.segment_sources says from which one, and with whose rights.
//
// A refill (sequence_cache.cpp) calls, in this order: source_find(); is_retry_too_early() and
// is_unreachable_source(), which go by the last failure; source_is_as_attached(); source_allocate()
// (remote_blocks.cpp); note_failure().
//
// Shared: the table; and SourceFailures, a part of a segment's entry (counter_state.hpp). The
// process that has the right to refill stores it; every process that draws reads it. Statistics
// read it at any time, and zero the counts.
#pragma once

#include "pg/prelude.hpp"
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
  const char* identity;  // which one it was when it was attached, see remote_blocks.cpp
};

// Sets *source to the source of a sequence, in the caller's memory context; source->server is
// nullptr if it has none. Raises: 55000 if the table is missing or was altered.
void source_find(Oid relid, RemoteSource* source);

// How a source has failed.
enum class FailureKind : uint8_t {
  kOther,  // it is not as it was attached, is behind, or has reported an error
  kDown,   // it could not be reached
};

// The failures of a source. Times are Unix microseconds, but of logged_us, see may_log().
struct SourceFailures {
  std::atomic<uint64_t> failures;  // how often numbers could not be allocated
  std::atomic<int64_t> failed_us;  // the last time
  std::atomic<int64_t> retry_us;   // when the source may be tried again; 0 if it has given numbers
                                   // since it failed, or has never failed
  std::atomic<int64_t> logged_us;  // when a failure was last logged
  std::atomic<uint32_t> sqlstate;  // the last one's, as errcode() has it; 0 if there is none
  std::atomic<uint32_t> file;  // the sequence's storage then: attaching another source changes it
  std::atomic<FailureKind> kind;
};
static_assert(std::atomic<FailureKind>::is_always_lock_free);
SNOWID_PIN_SIZE(SourceFailures, 48);

// A failure that is to be remembered.
struct Failure {
  FailureKind kind;
  int sqlstate;
  const char* why;         // a sentence for the server's log
  core::UnixMicros began;  // when the source was tried
};

// Counts a failure for statistics.
void count_failure(SourceFailures* failures, int sqlstate) noexcept;

// Remembers that the source has failed, and for how long it is not to be tried: twice as long as
// the failure took, so that callers spend no great part of their time on it. With kEarly the
// failure is logged, since no caller gets an error: once a minute, and whenever the SQLSTATE is
// another one than the last one's.
void note_failure(const Counter* counter, const RemoteSource& source, const Failure& failure,
                  Urgency urgency);

// Whether the counter's source has failed and is not to be tried yet.
bool is_retry_too_early(const Counter* counter) noexcept;

// Whether it could not be reached when it was last tried.
bool is_unreachable_source(const Counter* counter) noexcept;

// Whether owner and server are the ones that they were when the sequence was attached. If not, the
// present owner has not agreed to blocks being allocated with its rights.
bool source_is_as_attached(const RemoteSource& source);

// The SQLSTATE of what was changed: 42501 for the owner, 55000 for another server of that name,
// 42704 for none. And reports it.
int source_changed_sqlstate(const RemoteSource& source);
[[noreturn]] void source_report_changed(const RemoteSource& source);

// Allocates 1 to `blocks` blocks durably, the first of which begins at `least` or above. Returns
// nullptr, or the error, restated by remote_explain(): 55000 if the source has another identity
// than when it was attached, or is behind `least`; 08P01 if the answer is none. A cancel of the
// query is raised. Requires: the source is as it was attached; no LWLock is held.
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
