// What is remembered when a central source has failed: when it may be tried again, and what
// statistics and the server's log show.
//
// Shared: LastFailure and FailureCounts, parts of a segment's entry (counters/store.hpp). The
// process that has the right to refill stores them; every process that draws reads them. Statistics
// read the counts at any time, and set them to 0.
#pragma once

#include "pg/central/sources.hpp"
#include "pg/compat.hpp"
#include "pg/sequence_page.hpp"
#include "pg/shmem/shared_table.hpp"

namespace snowid::pg {

// How a central source has failed.
enum class FailureKind : uint8_t {
  kOther,  // it is not as it was attached, is behind, or has reported an error
  kDown,   // it could not be reached
};

// The last failure. Times are Unix microseconds.
struct LastFailure {
  std::atomic<int64_t> retry_us;  // when the source may be tried again; 0 where it has given
                                  // numbers since it failed, or has never failed
  std::atomic<int64_t> failed_us;
  std::atomic<uint32_t> file;  // the sequence's storage then: attaching another source changes it
  std::atomic<FailureKind> kind;
};

// How often numbers could not be allocated from the source.
struct FailureCounts {
  std::atomic<uint64_t> failures;
  std::atomic<int64_t> failed_us;  // the last one; Unix microseconds
  std::atomic<int64_t> logged_us;  // when one was last logged, see may_log()
  std::atomic<uint32_t> sqlstate;  // the last one's, as errcode() has it; 0 where there is none
};

static_assert(std::atomic<FailureKind>::is_always_lock_free);

// Of these forms, too, SNOWID_COUNTERS_ABI is the number.
SNOWID_PIN(LastFailure, retry_us, 0);
SNOWID_PIN(LastFailure, failed_us, 8);
SNOWID_PIN(LastFailure, file, 16);
SNOWID_PIN(LastFailure, kind, 20);
SNOWID_PIN_SIZE(LastFailure, 24);
SNOWID_PIN(FailureCounts, failures, 0);
SNOWID_PIN(FailureCounts, failed_us, 8);
SNOWID_PIN(FailureCounts, logged_us, 16);
SNOWID_PIN(FailureCounts, sqlstate, 24);
SNOWID_PIN_SIZE(FailureCounts, 32);

// Adds a failure to the counts.
void count_failure(FailureCounts* counts, int sqlstate) noexcept;

// A failure that is to be remembered.
struct Failure {
  FailureKind kind;
  int sqlstate;
  const char* why;         // a sentence for the server's log
  core::UnixMicros began;  // when the source was tried
};

// A sequence that is refilled from a central source.
struct SourceUser {
  LastFailure* last;
  FailureCounts* counts;
  FileNumber file;  // the sequence's storage
  uint64 left;      // how many numbers are left here
};

// Remembers that the source has failed, and for how long it is not to be tried: twice as long as
// the failure took, so that callers spend no great part of their time on it. With kEarly the
// failure is logged, since no caller gets an error: once a minute, and whenever the SQLSTATE is
// another one than the last one's.
void note_failure(const SourceUser& user, const CentralSource& source, const Failure& failure,
                  Urgency urgency);

// Whether the source of a sequence with the storage `file` has failed and is not to be tried yet.
bool is_retry_too_early(const LastFailure& last, FileNumber file) noexcept;

// Whether that source could not be reached when it was last tried.
bool is_unreachable_source(const LastFailure& last, FileNumber file) noexcept;

}  // namespace snowid::pg
